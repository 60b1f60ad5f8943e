// Package cli is the command line of Sentient. Each command stands in a file of its own; what they do is in the engine.
// Answers go to standard output, everything else (progress, sentences about failures) to standard error, and the exit
// status tells: 0 done, 1 not done, 2 the command line was not understood, 3 no engine is running.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"sentient/backend/discovery"
	"sentient/backend/errs"
)

// The exit statuses.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNotRunning = 3
)

// program is what every command may use.
type program struct {
	ctx    context.Context
	page   fs.FS
	out    io.Writer
	err    io.Writer
	getenv func(string) string
}

// commands is the command line, for kong.
type commands struct {
	Open     openCmd     `cmd:"" default:"1" help:"Open Sentient's window. Without a display, serve its page on this computer and print a link to it. This is what 'sentient' alone does."`
	Serve    serveCmd    `cmd:"" help:"Run the engine without a window, and print a link to its page."`
	Ask      askCmd      `cmd:"" help:"Ask one question and print the answer as it comes."`
	Status   statusCmd   `cmd:"" help:"Say whether Sentient is running, and where."`
	Doctor   doctorCmd   `cmd:"" help:"Check what Sentient needs, and say what to do about what is missing."`
	Eval     evalCmd     `cmd:"" help:"Measure the program over files of cases; without a name, list the measures."`
	Contract contractCmd `cmd:"" help:"Print every route, event and command that this program serves, as JSON."`
	Version  versionCmd  `cmd:"" help:"Print the version and the commit it was built from."`
}

// exit is an error that carries only an exit status: the command has already said what there is to say.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Main runs the command line and gives the exit status.
func Main(page fs.FS) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(&program{ctx: ctx, page: page, out: os.Stdout, err: os.Stderr, getenv: os.Getenv}, os.Args[1:])
}

func run(p *program, args []string) (status int) {
	var c commands
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit: // kong ends the process for --help; here it only ends the command
			status = int(p)
		default:
			panic(p)
		}
	}()
	parser, err := kong.New(&c,
		kong.Name("sentient"),
		kong.Description("Sentient is a personal assistant that lives on this computer.\n\nRun it without a command to open it. Its data stands in ~/.sentient, or in the folder that SENTIENT_HOME names."),
		kong.Writers(p.out, p.err),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(p.err, err)
		return exitFailed
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(p.err, "sentient: %v\nRun 'sentient --help' to see what it can do.\n", err)
		return exitUsage
	}
	return p.status(parsed.Run(p))
}

// status turns a command's error into a sentence and an exit status.
func (p *program) status(err error) int {
	if err == nil {
		return exitDone
	}
	if code, ok := errors.AsType[exit](err); ok {
		return int(code)
	}
	fmt.Fprintln(p.err, errs.From(err).Message)
	return exitFailed
}

func (p *program) home() (string, error) { return discovery.Home(p.getenv) }
