/** Random values: objects that fit a kind's schema or nearly do, and small mutations of values and texts. */
import { double, envelope, field, number, tag } from '../../src/machinery/protobuf/encode.fixture.ts'
import type { Field, FieldType, StructType } from '../../src/machinery/schema.ts'
import type { Random } from './random.ts'

type Plain = Record<string, unknown>

export const names: readonly string[] = ['a', 'b', 'c', 'd-1', 'default', 'x.y', 'system:c', 'd.example.com']
export const namespaces: readonly string[] = ['default', 'fuzz']

const oddTexts: readonly string[] = [
  '',
  ' ',
  '-',
  '.',
  '..',
  '/',
  'a/b',
  'A',
  'ü',
  '😀',
  '\u0000',
  '\ud800',
  '"',
  '\\',
  "'",
  '%',
  '%zz',
  '$',
  '{}',
  '[]',
  'null',
  'true',
  '0',
  '-1',
  '1e3',
  'a'.repeat(64),
  'b'.repeat(254),
  'x'.repeat(5000),
  '__proto__',
  'constructor',
  'toString',
  '$(VAR)',
  '\n',
  '(a+)+$',
  '0x10',
  '1Ki',
  '500m',
  '10.0.0.1',
  '::1',
  '10.0.0.0/8',
  '2020-01-01T00:00:00Z',
  '2020-13-45T99:99:99Z',
  'app=x',
  'a in (b',
  '*',
  'kubernetes.io/x',
  'spec.x',
  '*/5 * * * *',
  '{{a}}',
  '<b>',
  '--- a',
  '&a',
  '*a',
  '!!js',
]
const plausibleTexts: readonly string[] = [
  'a',
  'b',
  'web',
  'nginx:1',
  'TCP',
  'Always',
  'ClusterIP',
  'example.com/x',
  'v1',
  'http',
  '80',
  '1',
  '10%',
  '100m',
  '1Gi',
  '10.96.0.9',
  'rbac.authorization.k8s.io',
  'apps',
  'pods',
  'get',
  '*',
  'Opaque',
  'True',
  'Service',
  'kubernetes.io/tls',
  'User',
  'ClusterRole',
  '2024-01-01T00:00:00Z',
  'Exact',
  'object.spec.x == 1',
  'self.a < 3',
]
const numbers: readonly number[] = [
  0, 1, 2, 3, 10, 80, 443, 65535, 65536, -1, -2147483648, 2147483647, 2147483648, -9007199254740992, 1.5, 1e21,
  9007199254740992, -0, 1e-7,
]

const text = (r: Random): string => (r.chance(0.75) ? r.pick(plausibleTexts) : r.pick(oddTexts))

/** A random JSON value. */
export function anything(r: Random, depth = 3): unknown {
  if (depth === 0 || r.chance(0.5))
    return r.one<unknown>(
      () => text(r),
      () => r.pick(numbers),
      () => r.chance(0.5),
      () => null,
    )
  if (r.chance(0.4)) return r.some(3, () => anything(r, depth - 1))
  return Object.fromEntries(r.some(3, () => [text(r), anything(r, depth - 1)] as const))
}

/** A value of a type. `loose` is the probability that a value is of another type. */
function randomValue(r: Random, type: FieldType, depth: number, loose: number, field?: Field): unknown {
  if (r.chance(loose)) return anything(r, 2)
  switch (type.kind) {
    case 'string':
      if (type.format === 'byte') return r.chance(0.9) ? Buffer.from(text(r)).toString('base64') : text(r)
      if (type.format)
        return r.pick(['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.123456Z', '1970-01-01T00:00:00+02:00', text(r)])
      return field?.enum && r.chance(0.95) ? r.pick(field.enum) : text(r)
    case 'boolean':
      return r.chance(0.5)
    case 'integer':
    case 'number':
      return r.chance(0.8) ? r.below(100) : r.pick(numbers)
    case 'quantity':
      return r.pick(['1', '100m', '1Gi', '0', '-5', '1e3', '1.5', text(r), r.below(9)])
    case 'int-or-string':
      return r.pick<unknown>([r.below(100), '80', '10%', text(r)])
    case 'any':
      return anything(r, 3)
    case 'array':
      return depth <= 0
        ? []
        : Array.from({ length: 1 + r.below(2) }, () => randomValue(r, type.items, depth - 1, loose))
    case 'map':
      return Object.fromEntries(r.some(3, () => [text(r), randomValue(r, type.values, depth - 1, loose)] as const))
    case 'struct':
      return randomStruct(r, type, depth - 1, loose)
    default:
      return type satisfies never
  }
}

function randomStruct(r: Random, type: StructType, depth: number, loose: number): Plain {
  const object: Plain = {}
  for (const [name, field] of type.fields) {
    if (!type.required.has(name) && !r.chance(depth > 0 ? 0.25 : 0.05)) continue
    if (depth < -3) continue
    object[name] = randomValue(r, field.type, depth, loose, field)
  }
  if (r.chance(loose)) object[r.pick(oddTexts)] = anything(r, 2)
  return object
}

const metadata = (r: Random, name: string | undefined): Plain => ({
  ...(name !== undefined ? { name } : r.chance(0.9) ? { name: r.pick(names) } : { generateName: 'g-' }),
  ...(r.chance(0.3) && { labels: { app: text(r), [text(r)]: text(r) } }),
  ...(r.chance(0.2) && { annotations: { note: text(r) } }),
  ...(r.chance(0.05) && { finalizers: ['example.com/hold'] }),
  ...(r.chance(0.05) && { ownerReferences: [anything(r, 2)] }),
  ...(r.chance(0.05) && { resourceVersion: r.pick(['1', '0', '', 'x', '99999999']) }),
  ...(r.chance(0.05) && { uid: 'u' }),
  ...(r.chance(0.05) && { namespace: r.pick([...namespaces, 'other', '']) }),
  ...(r.chance(0.05) && {
    managedFields: r.one<unknown>(
      () => [],
      () => [{}],
      () => [anything(r, 3)],
    ),
  }),
  ...(r.chance(0.05) && {
    [r.pick(['creationTimestamp', 'deletionTimestamp', 'selfLink', 'generation', 'deletionGracePeriodSeconds'])]:
      anything(r, 1),
  }),
})

/** An object of a kind. Many are valid, most of the others nearly so. */
export function randomObject(r: Random, type: StructType, groupVersion: string, kind: string, name?: string): Plain {
  const loose = r.pick([0, 0, 0.002, 0.03])
  const object = randomStruct(r, type, r.below(5), loose)
  return {
    ...object,
    apiVersion: r.chance(0.98) ? groupVersion : text(r),
    kind: r.chance(0.98) ? kind : text(r),
    metadata: r.chance(0.98) ? metadata(r, name) : anything(r, 2),
  }
}

/** Protobuf that could be an object of any kind: a name and random fields. */
export function randomProtobuf(r: Random, groupVersion: string, kind: string, name: string): Buffer {
  const fields = (depth: number): Buffer[] =>
    r.some(5, () => {
      const at = r.chance(0.95) ? 1 + r.below(12) : r.pick([0, 1000, 536870911])
      return r.one(
        () => field(at, text(r)),
        () => number(at, r.pick(numbers.filter((value) => Number.isSafeInteger(value)))),
        () => double(at, r.pick(numbers)),
        () => Buffer.concat([tag(at, r.below(8)), Buffer.from([r.below(256), r.below(256)])]),
        () => field(at, depth > 0 ? fields(depth - 1) : ''),
        () => field(at, depth > 0 ? fields(depth - 1) : ''),
      )
    })
  return envelope(groupVersion, kind, [field(1, [field(1, name), ...(r.chance(0.3) ? fields(2) : [])]), ...fields(6)])
}

/** The path of a random member of a value. */
export function randomPath(r: Random, value: unknown): (string | number)[] {
  const path: (string | number)[] = []
  let at = value
  while (typeof at === 'object' && at !== null && r.chance(0.8)) {
    const keys = Object.keys(at)
    if (keys.length === 0) break
    const key = r.pick(keys)
    path.push(Array.isArray(at) ? Number(key) : key)
    at = (at as Plain)[key]
  }
  return path
}

/** A copy with one to three changes: members replaced, removed, repeated or added. */
export function mutate(r: Random, value: unknown): unknown {
  const root = { value: structuredClone(value) } as Plain
  for (let i = 1 + r.below(3); i > 0; i--) {
    const path = ['value', ...randomPath(r, root.value)]
    let parent: Plain = root
    for (const key of path.slice(0, -1)) parent = parent[key] as Plain
    const last = String(path.at(-1))
    r.one(
      () => (parent[last] = anything(r, 3)),
      () => (Array.isArray(parent) ? parent.splice(Number(last), 1) : last !== 'value' && delete parent[last]),
      () =>
        Array.isArray(parent)
          ? parent.push(structuredClone(parent[Number(last)]))
          : (parent[r.pick(oddTexts)] = anything(r, 1)),
      () => (parent[last] = r.pick<unknown>([null, [], {}, '', 0, false])),
    )
  }
  return root.value
}

/** A copy with some bytes changed, cut or repeated. */
export function mutateBytes(r: Random, source: string | Buffer): Buffer {
  let bytes: Buffer = typeof source === 'string' ? Buffer.from(source) : source
  for (let i = 1 + r.below(3); i > 0 && bytes.length > 0; i--) {
    const at = r.below(bytes.length)
    const to = Math.min(bytes.length, at + 1 + r.below(20))
    bytes = r.one(
      () => bytes.subarray(0, at),
      () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]),
      () => Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]),
      () => Buffer.concat([bytes.subarray(0, at), Buffer.from([r.below(256), r.below(256)]), bytes.subarray(at)]),
      () =>
        Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from(
            r.pick(['{', '}', '[', ']', '"', ',', ':', '\\u0000', '1e999', 'null', '/**/', '\n---\n', '&a *a']),
          ),
          bytes.subarray(to),
        ]),
    )
  }
  return bytes
}

const nested = (open: string, close: string, depth: number, inner = '1'): string =>
  open.repeat(depth) + inner + close.repeat(depth)

/** A body made to crash or slow down parsers. */
export const hostileText = (r: Random): string =>
  r.one(
    () => nested('[', ']', r.pick([600, 5000, 100_000])),
    () => nested('{"a":', '}', r.pick([600, 5000, 100_000])),
    () =>
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":${nested('{"a":', '}', 20_000)}}}`,
    () => `{"metadata":{"name":"a"},"spec":${nested('{"x":[', ']}', 10_000)}}`,
    () =>
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
        .split('')
        .map((c, i) => `${c}: &${c} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`)
        .join('\n')}`,
    () => `a: ${'['.repeat(20_000)}`,
    () => `${'- '.repeat(20_000)}a`,
    () => `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
    () => `{${'"a":1,'.repeat(20_000)}"a":2}`,
    () => `{"metadata":{"name":${'9'.repeat(10_000)}}}`,
    () =>
      '{"__proto__":{"kind":"Pod"},"constructor":{"prototype":{"x":1}},' +
      '"metadata":{"name":"a","labels":{"__proto__":"x"}}}',
    () => '<xml/>',
    () => '%YAML 9.9\n---\n!!binary x: !!set {? a}',
    () => '? {a: b}\n: {c: d}',
    () => '\ufeff{"kind":"ConfigMap"}',
    () => '',
    () => ' '.repeat(100_000),
    () => `"${'\\ud800'.repeat(1000)}"`,
  )

/** A copy of an object without the metadata that an apply must not have. */
export function withoutServerFields(value: unknown): unknown {
  const copy = structuredClone(value) as { metadata?: Record<string, unknown> } | null
  if (copy && typeof copy === 'object' && copy.metadata && typeof copy.metadata === 'object')
    for (const field of ['managedFields', 'resourceVersion', 'uid']) delete copy.metadata[field]
  return copy
}
