/** Go types and the memory that their values consist of. */

export interface Field {
  readonly name: string
  readonly type: GoType
}

export type GoType =
  /** `bytes` is undefined for types of the width of a pointer. */
  | {
      readonly kind: 'basic'
      readonly text: string
      readonly form: 'signed' | 'unsigned' | 'float' | 'bool'
      readonly bytes?: number
    }
  | { readonly kind: 'complex'; readonly text: string; readonly bytes: number }
  /** Pointers, and types that are pointers in memory: maps, channels, functions. */
  | { readonly kind: 'pointer'; readonly text: string }
  | { readonly kind: 'string' | 'slice' | 'interface'; readonly text: string }
  | { readonly kind: 'array'; readonly text: string; readonly length: number | undefined; readonly element: GoType }
  | { readonly kind: 'struct'; readonly text: string; readonly fields: readonly Field[] }
  /** A type of unknown structure. */
  | { readonly kind: 'named'; readonly text: string }

export interface Signature {
  /** Empty for function literals. */
  readonly name: string
  readonly receiver?: Field
  readonly parameters: readonly Field[]
  readonly results: readonly Field[]
}

const basic = (text: string, form: 'signed' | 'unsigned' | 'float' | 'bool', bytes?: number): GoType => ({
  kind: 'basic',
  text,
  form,
  ...(bytes && { bytes }),
})

const predeclared: readonly GoType[] = [
  basic('bool', 'bool', 1),
  basic('int', 'signed'),
  basic('int8', 'signed', 1),
  basic('int16', 'signed', 2),
  basic('int32', 'signed', 4),
  basic('int64', 'signed', 8),
  basic('rune', 'signed', 4),
  basic('uint', 'unsigned'),
  basic('uint8', 'unsigned', 1),
  basic('uint16', 'unsigned', 2),
  basic('uint32', 'unsigned', 4),
  basic('uint64', 'unsigned', 8),
  basic('byte', 'unsigned', 1),
  basic('uintptr', 'unsigned'),
  basic('float32', 'float', 4),
  basic('float64', 'float', 8),
  { kind: 'complex', text: 'complex64', bytes: 8 },
  { kind: 'complex', text: 'complex128', bytes: 16 },
  { kind: 'string', text: 'string' },
  { kind: 'interface', text: 'error' },
  { kind: 'interface', text: 'any' },
  { kind: 'pointer', text: 'unsafe.Pointer' },
]

/** Types of the standard library and Kubernetes that are common parameters. */
const wellKnown: readonly GoType[] = [
  basic('time.Duration', 'signed', 8),
  basic('time.Month', 'signed'),
  basic('os.FileMode', 'unsigned', 4),
  basic('reflect.Kind', 'unsigned'),
  {
    kind: 'struct',
    text: 'time.Time',
    fields: [
      { name: 'wall', type: basic('uint64', 'unsigned', 8) },
      { name: 'ext', type: basic('int64', 'signed', 8) },
      { name: 'loc', type: { kind: 'pointer', text: '*Location' } },
    ],
  },
  ...[
    'context.Context',
    'io.Reader',
    'io.Writer',
    'io.Closer',
    'io.ReadCloser',
    'io.ReadWriter',
    'http.ResponseWriter',
    'http.Handler',
    'net.Conn',
    'net.Listener',
    'net.Addr',
    'fmt.Stringer',
    'fs.FS',
    'sort.Interface',
    'hash.Hash',
    'os.Signal',
    'reflect.Type',
    'runtime.Object',
    'client.Client',
    'client.Object',
  ].map((text): GoType => ({ kind: 'interface', text })),
  ...['context.CancelFunc', 'http.HandlerFunc', 'http.Header', 'url.Values', 'fs.WalkDirFunc'].map(
    (text): GoType => ({ kind: 'pointer', text }),
  ),
  { kind: 'slice', text: 'json.RawMessage' },
  { kind: 'slice', text: 'net.IP' },
  {
    kind: 'struct',
    text: 'types.NamespacedName',
    fields: [
      { name: 'Namespace', type: { kind: 'string', text: 'string' } },
      { name: 'Name', type: { kind: 'string', text: 'string' } },
    ],
  },
]

const knownTypes = new Map([...predeclared, ...wellKnown].map((type) => [type.text, type]))

/** Returns the type of a name; `named` if it is unknown. */
export const typeNamed = (text: string): GoType => knownTypes.get(text) ?? { kind: 'named', text }

/** Returns the parts of a value with labels; undefined for values of one word. */
export function partsOf(type: GoType): readonly Field[] | undefined {
  switch (type.kind) {
    case 'basic':
    case 'pointer':
    case 'named':
      return undefined
    case 'complex':
      return ['real', 'imaginary'].map((name) => ({ name, type: basic('float', 'float', type.bytes / 2) }))
    case 'string':
      return [pointer, length]
    case 'slice':
      return [pointer, length, { name: 'capacity', type: length.type }]
    case 'interface':
      return [
        { name: 'type', type: pointer.type },
        { name: 'data', type: pointer.type },
      ]
    case 'array':
      return type.length === undefined
        ? undefined
        : Array.from({ length: Math.min(type.length, maxElements) }, (_, index) => ({
            name: `[${index}]`,
            type: type.element,
          }))
    case 'struct':
      return type.fields.map(({ name, type }) => ({ name: `.${name}`, type }))
  }
}

/** Maximum number of elements, since Go prints at most ten words. */
const maxElements = 64
const pointer: Field = { name: 'pointer', type: { kind: 'pointer', text: 'pointer' } }
const length: Field = { name: 'length', type: basic('length', 'signed') }
