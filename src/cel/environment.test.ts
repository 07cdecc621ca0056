import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { adapt, environment } from './index.ts'
import { dynType, formatType, intType, listType, mapType, objectType, stringType } from './types.ts'

const self = objectType('Self', {
  a: intType,
  s: stringType,
  l: listType(intType),
  m: mapType(stringType, intType),
  d: dynType,
})
const env = environment({ variables: { self, x: intType } })

function errors(source: string): string {
  const compiled = env.compile(source)
  assert.ok('errors' in compiled, source)
  return compiled.errors
}

const anyExpression =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

/** Expression, and cel-go's message with lines and pointers. */
const faults: readonly (readonly [string, string])[] = [
  [
    'self ==',
    `ERROR: <input>:1:8: Syntax error: mismatched input '<EOF>' expecting ${anyExpression}\n | self ==\n | .......^`,
  ],
  [
    '{',
    "ERROR: <input>:1:2: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '}', '(', '.', ',', '-', " +
      "'!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | {\n | .^",
  ],
  [
    '*@a | b',
    `ERROR: <input>:1:1: Syntax error: extraneous input '*' expecting ${anyExpression}\n | *@a | b\n | ^\n` +
      "ERROR: <input>:1:2: Syntax error: token recognition error at: '@'\n | *@a | b\n | .^\n" +
      "ERROR: <input>:1:5: Syntax error: token recognition error at: '| '\n | *@a | b\n | ....^\n" +
      "ERROR: <input>:1:7: Syntax error: extraneous input 'b' expecting <EOF>\n | *@a | b\n | ......^",
  ],
  [
    'a | b',
    "ERROR: <input>:1:3: Syntax error: token recognition error at: '| '\n | a | b\n | ..^\nERROR: <input>:1:5: " +
      "Syntax error: extraneous input 'b' expecting <EOF>\n | a | b\n | ....^",
  ],
  [
    '-',
    "ERROR: <input>:1:2: Syntax error: no viable alternative at input '-'\n | -\n | .^\nERROR: <input>:1:2: " +
      `Syntax error: mismatched input '<EOF>' expecting ${anyExpression}\n | -\n | .^`,
  ],
  [
    'foo(a,b,)',
    `ERROR: <input>:1:9: Syntax error: mismatched input ')' expecting ${anyExpression}\n | foo(a,b,)\n | ........^`,
  ],
  ['0xFFFFFFFFFFFFFFFFF', 'ERROR: <input>:1:1: invalid int literal\n | 0xFFFFFFFFFFFFFFFFF\n | ^'],
  ['1.99e90000009', 'ERROR: <input>:1:1: invalid double literal\n | 1.99e90000009\n | ^'],
  ['has(m)', 'ERROR: <input>:1:5: invalid argument to has() macro\n | has(m)\n | ....^'],
  ['1.all(2, 3)', 'ERROR: <input>:1:7: argument must be a simple name\n | 1.all(2, 3)\n | ......^'],
  [
    'cel.bind(y, 2, y)',
    "ERROR: <input>:1:1: undeclared reference to 'cel' (in container '')\n | cel.bind(y, 2, y)\n | ^\n" +
      "ERROR: <input>:1:9: undeclared reference to 'bind' (in container '')\n | cel.bind(y, 2, y)\n | ........^\n" +
      "ERROR: <input>:1:10: undeclared reference to 'y' (in container '')\n | cel.bind(y, 2, y)\n | .........^\n" +
      "ERROR: <input>:1:16: undeclared reference to 'y' (in container '')\n | cel.bind(y, 2, y)\n | ...............^",
  ],
  ['nope', "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^"],
  [
    'nope(nada)',
    "ERROR: <input>:1:5: undeclared reference to 'nope' (in container '')\n | nope(nada)\n | ....^\n" +
      "ERROR: <input>:1:6: undeclared reference to 'nada' (in container '')\n | nope(nada)\n | .....^",
  ],
  ['Nope{a: nada}', "ERROR: <input>:1:5: undeclared reference to 'Nope' (in container '')\n | Nope{a: nada}\n | ....^"],
  ['int{}', "ERROR: <input>:1:4: 'int' is not a message type\n | int{}\n | ...^"],
  ['x{}', "ERROR: <input>:1:2: 'int' is not a type\n | x{}\n | .^"],
  ['[].length', "ERROR: <input>:1:3: type 'list(_var0)' does not support field selection\n | [].length\n | ..^"],
  ['{x}', "ERROR: <input>:1:3: Syntax error: mismatched input '}' expecting ':'\n | {x}\n | ..^"],
  ['{x 1}', "ERROR: <input>:1:4: Syntax error: missing ':' at '1'\n | {x 1}\n | ...^"],
  [
    '[1].map(var, 1)',
    'ERROR: <input>:1:9: reserved identifier: var\n | [1].map(var, 1)\n | ........^\n' +
      'ERROR: <input>:1:9: argument is not an identifier\n | [1].map(var, 1)\n | ........^',
  ],
  [
    '"\\xFh"',
    `ERROR: <input>:1:1: Syntax error: token recognition error at: '"\\xFh'\n | "\\xFh"\n | ^\n` +
      `ERROR: <input>:1:6: Syntax error: token recognition error at: '"'\n | "\\xFh"\n | .....^\n` +
      `ERROR: <input>:1:7: Syntax error: mismatched input '<EOF>' expecting ${anyExpression}\n | "\\xFh"\n | ......^`,
  ],
  ['self.nope > 1', "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope > 1\n | ....^"],
  ['x.min > 1', "ERROR: <input>:1:2: type 'int' does not support field selection\n | x.min > 1\n | .^"],
  [
    'x > "a"',
    "ERROR: <input>:1:3: found no matching overload for '_>_' applied to '(int, string)'\n | x > \"a\"\n | ..^",
  ],
  [
    'self.s.startsWith(1)',
    "ERROR: <input>:1:18: found no matching overload for 'startsWith' applied to 'string.(int)'\n | " +
      'self.s.startsWith(1)\n | .................^',
  ],
  [
    'x.all(y, true)',
    "ERROR: <input>:1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or " +
      'dynamic)\n | x.all(y, true)\n | ^',
  ],
  ['[1, "a"]', "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, \"a\"]\n | ....^"],
  ['self.s.matches("(")', 'ERROR: <input>:1:16: invalid matches argument\n | self.s.matches("(")\n | ...............^'],
  [
    'self.s.matches("(a)\\\\1")',
    'ERROR: <input>:1:16: invalid matches argument\n | self.s.matches("(a)\\\\1")\n | ...............^',
  ],
  ['duration("soon")', 'ERROR: <input>:1:10: invalid duration argument\n | duration("soon")\n | .........^'],
  ['true &&\n  nope', "ERROR: <input>:2:3: undeclared reference to 'nope' (in container '')\n |   nope\n | ..^"],
]

suite("an invalid expression fails with cel-go's message", () => {
  for (const [source, expected] of faults) test(source, () => assert.equal(errors(source), expected))
})

/** Expression, and its value as JSON-like text, or its error after `!`. */
const values: Readonly<Record<string, string>> = {
  '1 + 2 * 3': '7n',
  '-7 / 2': '-3n',
  '-7 % 2': '-1n',
  '9223372036854775807 + 1': '!integer overflow',
  '-9223372036854775808 - 1': '!integer overflow',
  '0u - 1u': '!unsigned integer overflow',
  '1 / 0': '!division by zero',
  '1 % 0': '!modulus by zero',
  '1.0 / 0.0': 'Infinity',
  'dyn(1) == 1u && dyn(1) == 1.0 && dyn(2u) > 1.5': 'true',
  '1 < 1.5 && 2u > 1': 'true',
  'dyn(9007199254740993) == 9007199254740992.0': 'false',
  'dyn("1") == 1': 'false',
  '[1, 2] == [1, 2] && dyn([1]) == [1.0]': 'true',
  '{"a": 1} == {"a": 1}': 'true',
  '1 / 0 == 1 || true': 'true',
  'true || 1 / 0 == 1': 'true',
  '1 / 0 == 1 && false': 'false',
  '1 / 0 == 1 && true': '!division by zero',
  'true ? 1 : 1 / 0': '1n',
  '[1, 2][5]': '!index out of bounds: 5',
  '{"a": 1}["b"]': '!no such key: b',
  '{"a": 1}.b': '!no such key: b',
  'dyn(null).b': '!no such key: b',
  'has(dyn(null).b)': 'false',
  'dyn(null).?b.hasValue()': 'false',
  'dyn(1)["b"]': '!no such key: b',
  'dyn("a")[?0].hasValue()': 'false',
  'dyn([1]).b': "!unsupported index type 'string' in list",
  'dyn(1) + "a"': '!no such overload',
  'dyn("a").startsWith(dyn(1))': '!no such overload',
  '2 in [1, 2]': 'true',
  '"a" in {"a": 1}': 'true',
  '[1, 2, 3].filter(x, x > 1).map(x, x * x)': '[4n,9n]',
  '[1, 2, 3].map(x, x > 1, x + 1)': '[3n,4n]',
  '[1, 2].exists_one(x, x == 1) && [1, 2].existsOne(x, x == 1)': 'true',
  '[[1], [2]].all(x, x.all(y, y > 0))': 'true',
  '[1, 0].exists(x, 1 / x == 1)': 'true',
  '[0, 1].all(x, 1 / x == 2)': 'false',
  '[5, 6].all(i, v, v - i == 5)': 'true',
  '["a", "b"].transformList(i, v, v + string(i))': '["a0","b1"]',
  '{"a": 1, "b": 2}.transformMap(k, v, v > 1, v * 10)["b"]': '20n',
  '["a"].transformMapEntry(i, v, {v: i})["a"]': '0n',
  '["a", "a"].transformMapEntry(i, v, {v: i})': '!insert failed: key a already exists',
  'optional.of(1).optMap(y, y + 1).orValue(0)': '2n',
  'optional.none().orValue(5)': '5n',
  'optional.none().value()': '!optional.none() dereference',
  '{"a": 1}[?"b"].orValue(7)': '7n',
  '{"a": {"b": 1}}.?a.?b.orValue(0)': '1n',
  '[?optional.none(), ?optional.of(2)]': '[2n]',
  '{?"a": optional.none(), ?"b": optional.of(1)}.size()': '1n',
  '[1][?3].hasValue()': 'false',
  'size("héllo 👑")': '7n',
  '"a\\u00e9\\n".size()': '3n',
  "r'\\d' + '''it's'''": '"\\\\dit\'s"',
  'b"\\xff".size()': '1n',
  '"abc".matches("^[a-c]+$")': 'true',
  'matches("xaby", "ab")': 'true',
  '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!".matches("^(a+)+$")': 'false',
  'string(1000000.0) + string(0.00001) + string(1.5) + string(123456789.0)': '"1e+061e-051.51.23456789e+08"',
  'int("-12") + int(3.9) + int(2u)': '-7n',
  'int("x")': '!strconv.ParseInt: parsing "x": invalid syntax',
  'int(1e30)': '!integer overflow',
  'double("1.5")': '1.5',
  'bool("true")': 'true',
  'string(duration("1h2m3.5s"))': '"3723.5s"',
  'duration("1h") > duration("59m")': 'true',
  'duration("90m").getHours()': '1n',
  'timestamp("2024-02-29T23:30:00Z").getDate("Europe/Berlin")': '1n',
  'timestamp("2024-02-29T23:30:00Z").getMonth("+02:00")': '2n',
  'timestamp("2024-03-01T00:00:00Z").getDayOfYear()': '60n',
  'string(timestamp("2024-01-01T00:00:00.25+01:00"))': '"2024-01-01T00:00:00.25+01:00"',
  'timestamp("2024-01-02T00:00:00Z") - timestamp("2024-01-01T00:00:00Z") == duration("24h")': 'true',
  'timestamp("2024-01-01T00:00:00Z").getHours("Nowhere/Land")': '!unknown time zone Nowhere/Land',
  'type(1) == int && type(type(1)) == type && type([]) == list': 'true',
  'type(null) == null_type': 'true',
  'self.a == 1 && self.d.q[0] == 1 && self.d.r == 1.5': 'true',
  'has(self.s)': 'false',
  'self.s': '!no such key: s',
  'has(self.m.x) && self.m.x == 1': 'true',
  'self.m.exists(k, k == "toString")': 'false',
  'has(self.m.toString)': 'false',
}

const object = adapt({ a: 1, l: [1, 2], m: { x: 1 }, d: { q: [1], r: 1.5 } }, self)

suite('the value of an expression', () => {
  for (const [source, expected] of Object.entries(values))
    test(source, () => {
      const compiled = env.compile(source)
      assert.ok('program' in compiled, 'errors' in compiled ? compiled.errors : '')
      const outcome = compiled.program.evaluate({ self: object, x: 1n })
      assert.equal('error' in outcome ? `!${outcome.error}` : show(outcome.value), expected)
    })
})

function show(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'object' && value !== null && Symbol.iterator in value)
    return `[${[...(value as Iterable<unknown>)].map(show).join(',')}]`
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

test('a program has its type, and the variables and fields that it uses', () => {
  const compiled = environment({ variables: { self, oldSelf: self } }).compile(
    'self.l.map(e, e > oldSelf.a ? "x" : self.s)',
  )
  assert.ok('program' in compiled)
  assert.equal(formatType(compiled.program.type), 'list(string)')
  assert.deepEqual([...compiled.program.variables].sort(), ['oldSelf', 'self'])
  assert.deepEqual([...compiled.program.fields].sort(), ['oldSelf.a', 'self.l', 'self.s'])
})

test('extending an environment does not change the original', () => {
  const below = environment({ variables: { a: intType } })
  assert.ok('program' in below.extend({ variables: { b: intType } }).compile('a + b == 2'))
  assert.ok('errors' in below.compile('a + b == 2'))
})

test('only format accepts lists of mixed types', () => {
  const format = environment({
    libraries: [
      {
        name: 'test',
        functions: [
          {
            name: 'format',
            overloads: [
              {
                id: 'f',
                member: true,
                parameters: [stringType, listType(dynType)],
                result: stringType,
                evaluate: () => '',
              },
            ],
          },
        ],
      },
    ],
  })
  assert.ok('program' in format.compile('"%s %d".format(["a", 1, [1, "b"]])'))
  assert.match(errors('{"a": 1, "b": "c"}'), /1:15: expected type 'int' but found 'string'/)
  assert.match(errors('[1, dyn(2)]'), /expected type 'int' but found 'dyn'/)
})

test('expressions that are nested too deeply or too long are rejected', () => {
  assert.match(errors(`${'('.repeat(300)}1${')'.repeat(300)}`), /expression recursion limit exceeded: 250/)
  assert.equal(errors(Array(300).fill('1').join(' + ')), 'ERROR: <input>:-1:0: max recursion depth exceeded')
  assert.match(
    errors(`"${'a'.repeat(100_000)}"`),
    /expression code point size exceeds limit: size: 100002, limit 100000/,
  )
  assert.ok('program' in env.compile(Array(1000).fill('true').join(' && ')))
})
