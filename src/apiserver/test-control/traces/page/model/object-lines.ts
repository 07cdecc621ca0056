/** Writes an object as lines in the manner of YAML, for reading and for comparing. */

/** Managed fields are left out: `writersOf` shows who has written. */
export function objectLines(value: unknown): string[] {
  if (!isObject(value)) return nested(value, '')
  return Object.entries(value).flatMap(([key, member]) =>
    memberLines(key, key === 'metadata' ? withoutManagedFields(member) : member, ''),
  )
}

function withoutManagedFields(metadata: unknown): unknown {
  if (!isObject(metadata)) return metadata
  const { managedFields: _, ...rest } = metadata
  return rest
}

function nested(value: unknown, indent: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => itemLines(item, indent))
  if (!isObject(value)) return [indent + scalar(value)]
  return Object.entries(value).flatMap(([key, member]) => memberLines(key, member, indent))
}

function memberLines(key: string, value: unknown, indent: string): string[] {
  const start = `${indent}${plain(key)}:`
  if (Array.isArray(value)) return value.length === 0 ? [`${start} []`] : [start, ...nested(value, indent)]
  if (isObject(value))
    return Object.keys(value).length === 0 ? [`${start} {}`] : [start, ...nested(value, `${indent}  `)]
  if (typeof value === 'string' && value.includes('\n'))
    return [
      `${start} |`,
      ...value
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => `${indent}  ${line}`),
    ]
  return [`${start} ${scalar(value)}`]
}

function itemLines(item: unknown, indent: string): string[] {
  const [first = indent + (Array.isArray(item) ? '  []' : '  {}'), ...rest] = nested(item, `${indent}  `)
  return [`${indent}- ${first.slice(indent.length + 2)}`, ...rest]
}

const scalar = (value: unknown): string =>
  typeof value === 'string' ? plain(value) : (JSON.stringify(value) ?? 'null')

const isPlain = /^[A-Za-z/][\w./@+-]*$/
const words = /^(true|false|null|yes|no|on|off|y|n)$/i
const plain = (text: string): string => (isPlain.test(text) && !words.test(text) ? text : JSON.stringify(text))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
