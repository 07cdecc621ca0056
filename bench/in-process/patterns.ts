/**
 * `npm run bench -- --patterns`: the time of patterns that schemas of real operators have: to compile one, the first
 * test, which builds the automaton, and later ones.
 */
import { linearRegexp } from '../../src/lib/linear-regexp/index.ts'
import { print } from '../report.ts'

const dnsLabel = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const number = '(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))'
const times = ['y', 'w', 'd', 'h', 'm', 's', 'ms'].map((unit) => `(([0-9]+)${unit})?`).join('')
const hosts = 'abc-def.'.repeat(1250)

/** Name, pattern and a text. */
const patterns: readonly (readonly [string, string, string])[] = [
  ['host name', `^(\\*\\.)?${dnsLabel}(\\.${dnsLabel})*$`, '*.gateway.example.com'],
  ['host name of 10 KB', `^${dnsLabel}(\\.${dnsLabel})*$`, `${hosts}x`],
  ['quantity', `^(\\+|-)?${number}(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?${number}))?$`, '512Mi'],
  ['duration', `^(0|${times})$`, '1h30m'],
  ['URL', '^(http|https)://.+$', 'https://example.com/metrics'],
  ['path', "^(?:[-A-Za-z0-9/._~!$&'()*+,;=:]|[%][0-9a-fA-F]{2})+$", '/api/v1/namespaces/default/pods'],
  ['alternatives', '^(alpha|beta|gamma|delta|epsilon)$', 'epsilon'],
  ['reason', '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$', 'MinimumReplicasAvailable'],
  ['letters', '^\\pL+$', 'Straßenbahnübergänge'],
  ['word', '\\bfoo\\b', 'a food foo in the text'],
  ['nested repetitions, 100 KB', '(a+)+$', `${'a'.repeat(100_000)}!`],
  ['many states, 10 KB', '(a|b)*a(a|b){20}$', 'ab'.repeat(5000)],
]

const distinct = 300
const testMs = 100

export function benchPatterns(): void {
  print([
    ['pattern', 'compile µs', 'first test µs', 'test µs'],
    ...patterns.map(([name, pattern, text]) => {
      // Compiled expressions are cached, so each has another source.
      const sources = Array.from({ length: distinct }, (_, i) => `(?:${pattern})|-${i}`)
      const small = text.length < 1000 ? sources : sources.slice(0, 10)
      const compileUs = microseconds(small.length, (i) => linearRegexp(small[i]!))
      const expressions = small.map(linearRegexp)
      const firstUs = microseconds(small.length, (i) => expressions[i]!.test(text))
      const expression = linearRegexp(pattern)
      let tests = 1
      while (microseconds(tests, () => expression.test(text)) * tests < testMs * 1000) tests *= 2
      const testUs = microseconds(tests, () => expression.test(text))
      return [name, compileUs.toFixed(0), firstUs.toFixed(0), testUs.toFixed(2)]
    }),
  ])
}

/** Returns the time of each of `count` calls in µs. */
function microseconds(count: number, call: (i: number) => unknown): number {
  const started = performance.now()
  for (let i = 0; i < count; i++) call(i)
  return ((performance.now() - started) * 1000) / count
}
