import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseUrl, UrlError } from '../../machinery/values/go-url.ts'
import { ipText, parseIpAddress } from '../../machinery/values/ip-address.ts'
import type { Type } from '../types.ts'
import { CelError, Duration, OptionalValue, Timestamp, UInt, type Value } from '../values.ts'
import { AuthorizerValue, type CheckAuthorizer } from './authorizer.ts'
import { call, costOf, list, map, overloads } from './call.fixture.ts'
import { jsonPatchLibrary, kubernetesLibraries } from './index.ts'

/** Returns a deterministic random generator. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const random = randomOf(42)
const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T

const pieces = [
  '1',
  '0',
  '255',
  '.',
  ':',
  '::',
  '/',
  '%',
  '%25',
  '+',
  '-',
  'v',
  'e',
  'Ki',
  'm',
  '[',
  ']',
  '@',
  '?',
  '#',
  '&',
  '=',
  ';',
  'a',
  'ff',
  'é',
  '😀',
  '\ud800',
  ' ',
  '\n',
  '(',
  ')',
  '*',
  '|',
  '\\',
  '{',
  '}',
  '$',
  '%s',
  '%d',
  '%.3f',
  'http://',
  'T',
  'Z',
]
const text = (): string => Array.from({ length: random(8) }, () => pick(pieces)).join('')
const int = (): bigint => pick([0n, 1n, -1n, 2n, 5n, 2n ** 63n - 1n, -(2n ** 63n), BigInt(random(100))])
const double = (): number => pick([0, -0, 1.5, 1e300, -1e-300, Number.NaN, Number.POSITIVE_INFINITY, random(1000) / 7])

function anything(depth = 2): Value {
  const scalars: readonly (() => Value)[] = [
    () => null,
    () => random(2) === 0,
    int,
    double,
    text,
    () => new UInt(BigInt.asUintN(64, int())),
    () => new Duration(int()),
    () => new Timestamp(BigInt(random(2 ** 31)) * 1_000_000_000n),
    () => new TextEncoder().encode(text()),
    () => new Uint8Array([255, random(256)]),
    () => new OptionalValue(undefined),
  ]
  const choice = random(depth > 0 ? scalars.length + 2 : scalars.length)
  if (choice < scalars.length) return scalars[choice]?.() ?? null
  const items = Array.from({ length: random(4) }, () => anything(depth - 1))
  return choice === scalars.length ? list(...items) : map(...items.map((item, i) => [`k${i}`, item] as const))
}

const authorizer: CheckAuthorizer = {
  checkPath: () => ({ allowed: true, reason: '' }),
  checkResource: () => ({ allowed: false, reason: 'no' }),
  serviceAccount: () => authorizer,
}

/** Creates values of the libraries' own types. */
const opaque: Readonly<Record<string, () => Value>> = {
  'net.IP': () => call('string_to_ip', pick(['127.0.0.1', '::1', 'fe80::1', '255.255.255.255'])),
  'net.CIDR': () => call('string_to_cidr', pick(['10.0.0.0/8', '::/0', '1.2.3.4/32', 'fe80::1/10'])),
  'kubernetes.URL': () => call('string_to_url', pick(['/', 'https://a:1/b?c=d', 'mailto:x', 'https://[::1]/'])),
  'kubernetes.Quantity': () => call('string_to_quantity', pick(['1', '-1m', '1.5Gi', '1e30', '100E', '0'])),
  'kubernetes.Semver': () => call('string_to_semver', pick(['1.2.3', '0.0.0-a.1', '1.0.0+b'])),
  'kubernetes.NamedFormat': () => call(pick(['format.uri', 'format.byte', 'format.dns1123Label'])),
  'kubernetes.authorization.Authorizer': () => new AuthorizerValue(authorizer),
  'kubernetes.authorization.PathCheck': () => call('authorizer_path', new AuthorizerValue(authorizer), '/'),
  'kubernetes.authorization.GroupCheck': () => call('authorizer_group', new AuthorizerValue(authorizer), ''),
  'kubernetes.authorization.ResourceCheck': () =>
    call('groupcheck_resource', call('authorizer_group', new AuthorizerValue(authorizer), ''), 'pods'),
}

/** Creates a random value of a type. */
function ofType(type: Type): Value {
  switch (type.kind) {
    case 'string':
      return text()
    case 'int':
      return int()
    case 'bool':
      return random(2) === 0
    case 'double':
      return double()
    case 'uint':
      return new UInt(BigInt.asUintN(64, int()))
    case 'duration':
      return new Duration(int())
    case 'timestamp':
      return new Timestamp(int())
    case 'bytes':
      return new TextEncoder().encode(text())
    case 'list':
      return list(...Array.from({ length: random(5) }, () => ofType(type.element)))
    case 'opaque':
      return opaque[type.name]?.() ?? anything()
    default:
      return anything()
  }
}

/** Asserts that `run` throws nothing but CelErrors. */
function survives(id: string, run: () => unknown): void {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof CelError, `${id} throws ${error}`)
  }
}

test('calls with random arguments return a value or throw a CelError', () => {
  for (const [id, { parameters }] of overloads) {
    for (let i = 0; i < 60; i++) {
      const fitting = parameters.map(ofType)
      survives(id, () => {
        const cost = costOf(id, ...fitting)
        assert.ok(cost >= 0, `${id} costs ${cost}`)
      })
      const strange = parameters.map(() => anything())
      survives(id, () => call(id, ...strange))
    }
  }
})

test('formatting and parsing an address returns the same address', () => {
  for (let i = 0; i < 2000; i++) {
    const family = pick([4, 6] as const)
    let value = 0n
    for (let part = 0; part < (family === 4 ? 2 : 8); part++)
      value = (value << 16n) | BigInt(random(2) === 0 ? 0 : random(65536))
    const address = { family, value, zone: '' }
    assert.deepEqual(parseIpAddress(ipText(address)), address)
  }
})

test('escaping the path of a URL is idempotent', () => {
  for (let i = 0; i < 2000; i++) {
    const source = `https://host/${text()}`
    try {
      const { escapedPath } = parseUrl(source)
      assert.equal(parseUrl(`https://host${escapedPath}`).escapedPath, escapedPath, source)
    } catch (error) {
      assert.ok(error instanceof UrlError, `${source}: ${error}`)
    }
  }
})

test('join reverts split, and a second replace reverts the first', () => {
  for (let i = 0; i < 2000; i++) {
    const [value, separator] = [text(), text()]
    assert.equal(call('list_join_string', call('string_split_string', value, separator), separator), value)
    const limit = BigInt(1 + random(4))
    assert.equal(call('list_join_string', call('string_split_string_int', value, separator, limit), separator), value)
    const marked = call('string_replace_string_string', value, separator, '\u0001')
    if (separator !== '') assert.equal(call('string_replace_string_string', marked, '\u0001', separator), value)
  }
})

test('overload ids are unique', () => {
  const ids = [...kubernetesLibraries, jsonPatchLibrary].flatMap(({ functions = [] }) =>
    functions.flatMap((it) => it.overloads.map(({ id }) => id)),
  )
  assert.deepEqual(
    ids.filter((id, i) => ids.indexOf(id) !== i),
    [],
  )
})
