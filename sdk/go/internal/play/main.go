// Command play plays a scenario with the Go SDK: names and homes are in COVEY_CONFORMANCE.
//
// It writes one JSON line for each step that has a result. For a fault it writes a line, and goes on when it is answered.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"reflect"
	"strings"
	"time"

	covey "covey.example/sdk"
)

type step struct {
	As, Fault, Cursor, Open, Of, Take, Close, Call, Key string
	Since                                               string
	Kinds                                               []string
	Count                                               int
	With                                                map[string]any
	Save                                                json.RawMessage
	DeadlineS                                           float64 `json:"deadline_s"`
}

type player struct {
	Homes   map[string]string
	Run     string
	saved   map[string]any
	daemons map[string]any
	next    map[string]func() (any, error, bool)
	stop    map[string]func()
}

var initials = map[string]string{"id": "ID", "ids": "IDs", "url": "URL", "pid": "PID", "ms": "MS", "mcp": "MCP"}

func main() {
	p := player{saved: map[string]any{}, daemons: map[string]any{}, next: map[string]func() (any, error, bool){}, stop: map[string]func(){}}
	must(json.Unmarshal([]byte(os.Getenv("COVEY_CONFORMANCE")), &p))
	p.saved["run"] = p.Run
	text, err := os.ReadFile(os.Args[1])
	must(err)
	var steps []step
	must(json.Unmarshal(text, &steps))
	answers := bufio.NewReader(os.Stdin)
	for number, one := range steps {
		if one.Fault != "" {
			write(map[string]any{"fault": one.Fault})
			_, err := answers.ReadString('\n')
			must(err)
		} else if result := p.play(one); result != nil {
			write(map[string]any{"step": number, "result": result})
		}
	}
}

func (p *player) play(one step) any {
	ctx := context.Background()
	switch {
	case one.Open != "":
		p.open(ctx, one)
	case one.Cursor != "":
		cursor, err := p.daemon(one.As, one.Cursor).(interface {
			Cursor(context.Context) (int64, error)
		}).Cursor(ctx)
		must(err)
		var name string
		must(json.Unmarshal(one.Save, &name))
		p.saved[name] = cursor
	case one.Take != "":
		found := []any{}
		for range one.Count {
			value, err, _ := p.next[one.Take]()
			must(err)
			found = append(found, value)
		}
		return found
	case one.Close != "":
		p.stop[one.Close]()
	case one.Call != "":
		if one.Key != "" {
			ctx = covey.WithKey(ctx, p.filled(one.Key).(string))
		}
		if one.DeadlineS > 0 {
			limited, cancel := context.WithTimeout(ctx, time.Duration(one.DeadlineS*float64(time.Second)))
			defer cancel()
			ctx = limited
		}
		return p.call(ctx, one)
	}
	return nil
}

func (p *player) daemon(who, kind string) any {
	place := who + ":" + kind
	if p.daemons[place] == nil {
		var made any
		var err error
		if kind == "node" {
			made, err = covey.ConnectNode(p.Homes[who])
		} else {
			made, err = covey.ConnectMesh("", p.Homes[who])
		}
		must(err)
		p.daemons[place] = made
	}
	return p.daemons[place]
}

func (p *player) open(ctx context.Context, one step) {
	if one.Call != "" {
		sequence := p.method(one).Call(p.arguments(ctx, one))[0].Interface().(iter.Seq2[covey.WatchMessage, error])
		pull(p, one.Open, sequence)
		return
	}
	after := p.filled(one.Since).(int64)
	events := p.daemon(one.As, one.Of).(interface {
		Events(context.Context, *covey.EventsOptions) iter.Seq2[covey.Event, error]
	}).Events(ctx, &covey.EventsOptions{After: &after, Kinds: one.Kinds})
	pull(p, one.Open, events)
}

func pull[T any](p *player, name string, sequence iter.Seq2[T, error]) {
	next, stop := iter.Pull2(sequence)
	p.stop[name] = stop
	p.next[name] = func() (any, error, bool) { return next() }
}

func (p *player) method(one step) reflect.Value {
	kind, path, _ := strings.Cut(one.Call, ":")
	found := reflect.ValueOf(p.daemon(one.As, kind)).MethodByName(public(path))
	if !found.IsValid() {
		panic("there is no " + public(path))
	}
	return found
}

// arguments returns those of a method: what is required in the order of the contract, which the scenario keeps, then
// the others as options.
func (p *player) arguments(ctx context.Context, one step) []reflect.Value {
	method := p.method(one)
	kind := method.Type()
	given := []reflect.Value{reflect.ValueOf(ctx)}
	names := required(one.Call)
	options := map[string]any{}
	for name, value := range one.With {
		options[name] = p.filled(value)
	}
	for place, name := range names {
		given = append(given, decoded(options[name], kind.In(place+1)))
		delete(options, name)
	}
	if len(options) > 0 {
		made := reflect.New(kind.In(kind.NumIn() - 1).Elem()).Elem()
		for name, value := range options {
			field := made.FieldByName(public(name))
			if !field.IsValid() {
				panic("no option " + name)
			}
			field.Set(decoded(value, field.Type()))
		}
		given = append(given, made)
	}
	return given
}

func (p *player) call(ctx context.Context, one step) any {
	results := p.method(one).Call(p.arguments(ctx, one))
	if err, _ := results[1].Interface().(error); err != nil {
		var told *covey.Error
		if !errors.As(err, &told) {
			panic(err)
		}
		if told.ValidValues == nil {
			told.ValidValues = []string{}
		}
		return map[string]any{"code": told.Code, "error": told.Name, "message": told.Message, "suggestion": told.Suggestion,
			"field": told.Field, "valid_values": told.ValidValues, "recoverable": told.Recoverable}
	}
	result := results[0].Interface()
	var save, fields map[string]any
	if one.Save != nil {
		must(json.Unmarshal(one.Save, &save))
		text, err := json.Marshal(result)
		must(err)
		must(json.Unmarshal(text, &fields))
		for name, field := range save {
			p.saved[name] = fields[field.(string)]
		}
	}
	return result
}

func (p *player) filled(value any) any {
	switch found := value.(type) {
	case map[string]any:
		for name, one := range found {
			found[name] = p.filled(one)
		}
	case []any:
		for place, one := range found {
			found[place] = p.filled(one)
		}
	case string:
		if strings.HasPrefix(found, "$") {
			return p.saved[found[1:]]
		}
		return strings.ReplaceAll(found, "$run", p.Run)
	}
	return value
}

// required returns the names of what a call must be given, which a program cannot ask a method for.
func required(call string) []string {
	text, err := os.ReadFile(os.Args[2])
	must(err)
	var names map[string][]string
	must(json.Unmarshal(text, &names))
	return names[call]
}

func decoded(value any, kind reflect.Type) reflect.Value {
	made := reflect.New(kind)
	text, err := json.Marshal(value)
	must(err)
	must(json.Unmarshal(text, made.Interface()))
	return made.Elem()
}

func public(path string) string {
	var name strings.Builder
	for _, word := range strings.FieldsFunc(path, func(one rune) bool { return one == '.' || one == '_' }) {
		if short, ok := initials[word]; ok {
			name.WriteString(short)
		} else {
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return name.String()
}

func write(value any) {
	text, err := json.Marshal(value)
	must(err)
	fmt.Println(string(text))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
