/** One refused field of a 422 answer. `loc` is the path of the value, outermost first. */
export interface FieldProblem {
  loc: string[];
  msg: string;
  type: string;
}

interface ApiErrorInit {
  status: number;
  code: string;
  detail: string;
  fields?: FieldProblem[];
  requestId?: string;
}

/**
 * The one error of the window. `status` is 0 when the engine could not be reached; `detail` is a sentence for people
 * ("" when there is none: the caller then says what it was doing); `code` is stable and for programs.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly fields: FieldProblem[];
  readonly requestId: string | undefined;

  constructor(init: ApiErrorInit) {
    super(init.detail || init.code);
    this.name = "ApiError";
    this.status = init.status;
    this.code = init.code;
    this.detail = init.detail;
    this.fields = init.fields ?? [];
    this.requestId = init.requestId;
  }

  /** The engine did not answer at all: it may be starting again. */
  get unreachable(): boolean {
    return this.status === 0;
  }
}

function fieldsOf(detail: unknown): FieldProblem[] {
  if (!Array.isArray(detail)) return [];
  return detail.flatMap((d) => {
    if (typeof d !== "object" || d === null || !("msg" in d)) return [];
    const loc = "loc" in d && Array.isArray(d.loc) ? d.loc.map(String) : [];
    return [{ loc, msg: String(d.msg), type: "type" in d ? String(d.type) : "" }];
  });
}

/** Reads the error shape that both doors share: `{detail, code, request_id}`, whatever else surrounds it. */
export function errorFrom(status: number, body: unknown): ApiError {
  const b = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const fields = fieldsOf(b.detail);
  const first = fields[0]?.msg ?? "";
  return new ApiError({
    status: typeof b.status === "number" ? b.status : status,
    code: typeof b.code === "string" ? b.code : `http_${status}`,
    detail: typeof b.detail === "string" ? b.detail : first,
    fields,
    requestId: typeof b.request_id === "string" ? b.request_id : undefined,
  });
}

export function unreachable(): ApiError {
  return new ApiError({ status: 0, code: "unreachable", detail: "" });
}

export function toApiError(e: unknown): ApiError {
  if (e instanceof ApiError) return e;
  if (typeof e === "object" && e !== null && "detail" in e) return errorFrom(0, e);
  if (typeof e === "string") {
    try {
      return errorFrom(0, JSON.parse(e));
    } catch {
      return new ApiError({ status: 500, code: "unknown", detail: "" });
    }
  }
  if (e instanceof TypeError) return unreachable();
  return new ApiError({ status: 500, code: "unknown", detail: "" });
}
