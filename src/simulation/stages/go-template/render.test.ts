import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromYaml } from '../../../machinery/yaml.ts'
import { plainFunctions } from './functions.ts'
import { parseTemplate } from './parse.ts'
import { render } from './render.ts'

const dot = { name: 'web', labels: { b: '2', a: '1' }, items: [{ n: 'x', v: 1 }, { n: 'y' }], none: null }
const rendered = (text: string): string => render(parseTemplate(text), dot, plainFunctions)

test('templates are rendered as by Go', () => {
  for (const [text, expected] of [
    ['a {{ .name }} {{ .missing }}', 'a web <no value>'],
    ['{{ .name | Quote }} {{ Quote .name }}', '"web" "web"'],
    ['{{ range .items }}{{ .n }};{{ end }}', 'x;y;'],
    ['{{ range $i, $e := .items }}{{ $i }}={{ $e.n }},{{ end }}', '0=x,1=y,'],
    ['{{ range $k, $v := .labels }}{{ $k }}{{ $v }}{{ end }}', 'a1b2'],
    ['{{ range .none }}x{{ else }}empty{{ end }}', 'empty'],
    ['{{ range .items }}{{ if eq .n "y" }}{{ break }}{{ end }}{{ .n }}{{ end }}', 'x'],
    ['{{ range .items }}{{ if eq .n "x" }}{{ continue }}{{ end }}{{ .n }}{{ end }}', 'y'],
    ['{{ if .none }}a{{ else if .name }}b{{ else }}c{{ end }}', 'b'],
    ['{{ with .labels }}{{ .a }}{{ end }}{{ with .none }}x{{ else }}-{{ end }}', '1-'],
    ['{{ $x := 0 }}{{ range .items }}{{ $x = add1 $x }}{{ end }}{{ $x }}', '2'],
    ['{{ $l := or .missing dict }}{{ len $l }}', '0'],
    ['{{ index .labels "a" }} {{ (index .items 0).n }} {{ index .items 0 }}', '1 x map[n:x v:1]'],
    [
      '{{ define "t" }}<{{ .n }}{{ $.r }}>{{ end }}{{ range .items }}{{ template "t" dict "n" .n "r" $.name }}{{ ' +
        'end }}',
      '<xweb><yweb>',
    ],
    ['a  {{- /* nothing */ -}}  b {{- 1 -}} c', 'ab1c'],
    ['{{ and .name (not .none) }} {{ or "" "z" }} {{ gt 2 1 }} {{ ternary "y" "n" true }}', 'true z true y'],
    ['{{ printf "%s-%02d %q" .name 3 "q" }} {{ default "d" .none }} {{ "}}" }}', 'web-03 "q" d }}'],
  ] as const)
    assert.equal(rendered(text), expected, text)
  assert.equal(rendered('{{ with .labels }}{{ YAML . 1 }}{{ end }}'), '\n  a: "1"\n  b: "2"')
  assert.deepEqual(fromYaml(rendered('x:\n- deep:\n  {{ YAML .labels 1 }}\n  list:\n  {{ YAML .items 1 }}')), {
    x: [{ deep: { a: '1', b: '2' }, list: [{ n: 'x', v: 1 }, { n: 'y' }] }],
  })
})

test('errors in templates are reported', () => {
  assert.throws(() => rendered('{{ if .a }}'), /not closed by/)
  assert.throws(() => rendered('{{ .a'), /is not closed/)
  assert.throws(() => rendered('{{ nothing .a }}'), /function "nothing" not defined/)
  assert.throws(() => rendered('{{ $x }}'), /undefined variable "\$x"/)
  assert.throws(() => rendered('{{ define "t" }}{{ template "t" }}{{ end }}{{ template "t" }}'), /without end/)
})
