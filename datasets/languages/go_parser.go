// Parses Go files with go/parser. Each text on standard input follows a line with its length in bytes.
// Each answer is a line of JSON: the first error, or null.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
)

func main() {
	input, output := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(output)
	for {
		var size int
		if _, err := fmt.Fscanf(input, "%d\n", &size); err != nil {
			return
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(input, text); err != nil {
			return
		}
		var message any
		if _, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution); err != nil {
			message = err.Error()
		}
		encoder.Encode(message)
		output.Flush()
	}
}
