package covey

import (
	"errors"
	"reflect"
	"unicode/utf8"
)

var errNotText = errors.New("a text is not UTF-8")

// isText says whether every text in a value that json.Marshal accepts is UTF-8: what is not, Marshal replaces.
func isText(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.String:
		return utf8.ValidString(value.String())
	case reflect.Interface, reflect.Pointer:
		return value.IsNil() || isText(value.Elem())
	case reflect.Map:
		for key, one := range value.Seq2() {
			if !isText(key) || !isText(one) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			return true // Marshal writes bytes in base64
		}
		for at := range value.Len() {
			if !isText(value.Index(at)) {
				return false
			}
		}
	case reflect.Struct:
		for at := range value.NumField() {
			field := value.Type().Field(at)
			if (field.IsExported() || field.Anonymous) && !isText(value.Field(at)) {
				return false
			}
		}
	}
	return true
}
