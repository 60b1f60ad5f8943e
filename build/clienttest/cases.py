"""The cases of clients_test.go in the words of OpenAI's client for Python. Prints a JSON line a case."""

import json
import os
import re
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

import openai

BASE, OFF, KEY = os.environ["API_BASE"], os.environ["API_OFF"], os.environ["API_KEY"]
CONTROL, NAME = os.environ["API_CONTROL"], os.environ["API_CLIENT"]
SENTENCE = re.compile(r"\S.*\.")

client = openai.OpenAI(base_url=BASE, api_key=KEY)


class Skip(Exception):
    pass


def user(name):
    return f"{NAME} {name}"


def gate(name):
    return f"{NAME}-{name}"


def ask(content, who=client, **more):
    return who.chat.completions.create(model="sentient", messages=[{"role": "user", "content": content}], **more)


def control(method, path):
    try:
        with urllib.request.urlopen(urllib.request.Request(CONTROL + path, method=method), timeout=30) as res:
            text = res.read()
            return json.loads(text) if text else None
    except urllib.error.HTTPError as e:
        if e.code == 501:
            raise Skip(e.read().decode().strip()) from e
        raise


def refused(kind, status, code, send):
    """Wants one request that fails in this way, with what to read and nothing tried again."""
    try:
        send()
    except kind as e:
        assert (e.status_code, e.code) == (status, code), (e.status_code, e.code)
        assert SENTENCE.fullmatch(e.body["message"]), e.body
        assert e.response.request.headers["x-stainless-retry-count"] == "0", "the client tried again"
        return
    raise AssertionError(f"no {kind.__name__}")


def read(stream):
    """Reads a stream to its end and checks each chunk."""
    text, role, usage, finish = "", None, None, []
    for chunk in stream:
        assert (chunk.object, chunk.model) == ("chat.completion.chunk", "sentient"), chunk
        usage = chunk.usage or usage
        if not chunk.choices:
            continue
        choice = chunk.choices[0]
        role = role or choice.delta.role
        assert choice.finish_reason in (None, "stop"), chunk
        assert not finish, "a chunk after the last"
        if choice.finish_reason is not None:
            finish.append(choice.finish_reason)
        text += choice.delta.content or ""
    return text, role, usage, finish


def first(stream):
    for chunk in stream:
        if chunk.choices[0].delta.content:
            return chunk.choices[0].delta.content
    raise AssertionError("the stream ended")


def models():
    got = [(m.id, m.object, type(m.created), m.owned_by) for m in client.models.list()]
    assert got == [("sentient", "model", int, "sentient")], got


def chat():
    answer = ask("hello there", user=user("chat"), temperature=0.3)
    assert answer.object == "chat.completion" and len(answer.choices) == 1
    choice = answer.choices[0]
    assert choice.finish_reason == "stop" and choice.message.role == "assistant"
    assert re.fullmatch(r"You said: .*hello there", choice.message.content, re.DOTALL), choice
    used = answer.usage
    assert used.total_tokens == used.prompt_tokens + used.completion_tokens and used.completion_tokens > 0


def stream():
    whole = ask("good morning", user=user("stream whole")).choices[0].message.content
    text, role, usage, finish = read(ask("good morning", user=user("stream"), stream=True, stream_options={"include_usage": True}))
    assert (text, role, finish) == (whole, "assistant", ["stop"]), (text, role, finish)
    assert usage.total_tokens > 0
    with client.chat.completions.stream(model="sentient", messages=[{"role": "user", "content": "good morning"}], user=user("stream helper")) as helper:
        assert helper.get_final_completion().choices[0].message.content == whole


def parts():
    answer = client.chat.completions.create(
        model="sentient",
        user=user("parts"),
        messages=[
            {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "first part"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                    {"type": "text", "text": "second part"},
                ],
            },
        ],
    )
    assert answer.choices[0].message.content.endswith("first part\nsecond part"), answer


def no_text():
    for content in ([], None, "", [{"type": "image_url", "image_url": {"url": "x"}}]):
        refused(openai.BadRequestError, 400, "no_user_message", lambda content=content: ask(content))
    refused(openai.BadRequestError, 400, "invalid_request", lambda: ask(5))


def wrong_key():
    wrong = openai.OpenAI(base_url=BASE, api_key=KEY + "x")
    refused(openai.AuthenticationError, 401, "invalid_api_key", lambda: ask("hello", wrong))
    refused(openai.AuthenticationError, 401, "invalid_api_key", wrong.models.list)


def off():
    other = openai.OpenAI(base_url=OFF, api_key=KEY)
    refused(openai.NotFoundError, 404, "api_off", lambda: ask("hello", other, stream=True))


def busy():
    held = ask(f"hold {gate('busy')}", user=user("busy"), stream=True)
    begin = first(held)
    refused(openai.ConflictError, 409, "chat_busy", lambda: ask("hello", user=user("busy")))
    refused(openai.ConflictError, 409, "chat_busy", lambda: ask("hello", user=user("busy"), stream=True))
    assert ask("hello", user=user("beside")).choices[0].message.content.endswith("hello")
    control("POST", f"/open/{gate('busy')}")
    text, _, _, finish = read(held)
    assert (begin + text, finish) == ("Before and after.", ["stop"]), text
    assert ask("hello again", user=user("busy")).choices[0].message.content.endswith("hello again")


def error():
    refused(openai.InternalServerError, 500, "turn_failed", lambda: ask("fail", user=user("error")))


def error_in_a_stream():
    try:
        read(ask("fail", user=user("error in a stream"), stream=True))
    except openai.APIError as e:
        assert e.code == "turn_failed" and SENTENCE.fullmatch(e.message), e
        return
    raise AssertionError("no error")


def cut_off():
    text = ""
    try:
        for chunk in ask("cut", user=user("cut off"), stream=True):
            text += chunk.choices[0].delta.content or ""
    except openai.APIError as e:
        assert e.code == "turn_failed" and text.startswith("This is cut"), (e, text)
    else:
        raise AssertionError("no error")
    refused(openai.InternalServerError, 500, "turn_failed", lambda: ask("cut", user=user("cut off")))


def quiet():
    text, _, _, finish = read(ask("quiet", user=user("quiet"), stream=True))
    assert re.fullmatch(r"Let me see\.(\n\n)?Here it is\.", text) and finish == ["stop"], text


def stop():
    held = ask(f"hold {gate('stop')}", user=user("stop"), stream=True)
    first(held)
    try:
        control("POST", "/stop")
    except Skip:
        control("POST", f"/open/{gate('stop')}")
        raise
    try:
        read(held)
    except openai.APIError as e:
        assert e.message == "Stopped.", e
    else:
        raise AssertionError("no error")
    assert ask("hello", user=user("stop")).choices[0].message.content.endswith("hello")


def hang_up():
    held = ask(f"hold {gate('hang-up')}", user=user("hang up"), stream=True)
    first(held)
    held.close()
    refused(openai.ConflictError, 409, "chat_busy", lambda: ask("still there?", user=user("hang up")))
    control("POST", f"/open/{gate('hang-up')}")
    for _ in range(400):
        replies = control("GET", f"/replies/{urllib.parse.quote(user('hang up'))}")
        if replies and replies[-1] == "Before and after.":
            return
        time.sleep(0.025)
    raise AssertionError(f"the chat has {replies}")


for case in (models, chat, stream, parts, no_text, wrong_key, off, busy, error, error_in_a_stream, cut_off, quiet, stop, hang_up):
    line = {"name": case.__name__.replace("_", " ")}
    try:
        case()
        line["ok"] = True
    except Skip as e:
        line["skip"] = str(e)
    except Exception:  # whatever it is, the next case is tried
        line["detail"] = traceback.format_exc()
    print(json.dumps(line), flush=True)
