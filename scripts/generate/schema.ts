/**
 * Build step: converts the models of `@kubernetes/client-node` and our table of facts to `.build/schema.json` (for
 * decoding), `.build/descriptions.json` (for OpenAPI) and `.build/protobuf.json` (field numbers of protobuf bodies).
 * Does nothing if they are up to date.
 */
import { createHash } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import facts from '../../src/api/schema/facts.json' with { type: 'json' }
import protobufNumbers from '../../src/api/schema/protobuf-numbers.json' with { type: 'json' }

const root = join(import.meta.dirname, '../..')
const client = join(root, 'node_modules/@kubernetes/client-node')
const models = join(client, 'dist/gen/models')

/**
 * A model: the name of its definition, facts about the type, and its fields as `TYPE[!] FACTS` (see
 * `api/schema/loader.ts`).
 */
type GeneratedType = [definition: string, facts: string, fields: Record<string, string>]

export interface GeneratedSchema {
  /** Identifies the inputs. The first field, so that it can be read without the rest. */
  stamp: string
  types: Record<string, GeneratedType>
}

export type Descriptions = Record<string, Record<string, string>>

/**
 * Returns the models of the client's version. Its folder also contains models of older versions, which its index does
 * not list.
 */
const modelNames = (): string[] =>
  [...readFileSync(join(models, 'all.js'), 'utf8').matchAll(/models\/(\w+)\.js/g)].map((match) => match[1]!)

const scalars: Record<string, string> = { string: 'string', boolean: 'bool', any: 'any', IntOrString: 'intstr' }
const formats: Record<string, string> = {
  byte: 'bytes',
  'date-time': 'time',
  'date-time-micro': 'microtime',
  int32: 'int32',
  int64: 'int64',
  double: 'double',
  'int-or-string': 'intstr',
}

/** Converts the client's name of a type (`{ [key: string]: Array<string>; }`) to ours (`{}[]string`). */
function typeName(type: string, format: string, quantity: boolean): string {
  const array = /^Array<(.*)>$/.exec(type)
  if (array) return `[]${typeName(array[1]!, format, quantity)}`
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type)
  if (map) return `{}${typeName(map[1]!, format, quantity)}`
  if (quantity && type === 'string') return 'quantity'
  if (format in formats) return formats[format]!
  if (type === 'Date') return 'time'
  if (type === 'number') return 'double'
  return scalars[type] ?? type
}

const unescaped = (text: string): string => text.replace(/\\(["'`\\])/g, '$1').replaceAll('*_/', '*/')

/** Returns the doc comments of fields, and that of the class under ''. */
function descriptionsOf(declaration: string, names: ReadonlyMap<string, string>): Record<string, string> {
  const result: Record<string, string> = {}
  for (const [, comment, name] of declaration.matchAll(
    /\/\*\*\n((?: *\*(?!\/).*\n)*) *\*\/\n\s*(?:'([^']+)'\??:|export declare class)/g,
  )) {
    const text = comment!
      .split('\n')
      .map((line) => line.replace(/^ *\* ?/, ''))
      .join('\n')
      .trim()
    if (!name) result[''] = unescaped(text)
    else if (names.has(name)) result[names.get(name)!] = unescaped(text)
  }
  return result
}

function generate(stamp: string): { schema: GeneratedSchema; descriptions: Descriptions } {
  const schema: GeneratedSchema = { stamp, types: {} }
  const descriptions: Descriptions = {}
  const packages: Record<string, Record<string, Record<string, string>>> = facts.packages
  const definitions = new Map<string, string>(Object.entries(facts.models))
  const prefixed = new Set(Object.values(facts.models))
  for (const [name, types] of Object.entries(packages)) {
    const version = name.slice(name.lastIndexOf('.') + 1)
    for (const type of Object.keys(types)) {
      const definition = `${name}.${type}`
      if (!prefixed.has(definition)) definitions.set(version[0]!.toUpperCase() + version.slice(1) + type, definition)
    }
  }
  for (const model of modelNames()) {
    const definition = definitions.get(model)
    if (!definition) {
      console.error(`generate-schema: no package known for model ${model}: add it to src/api/schema/facts.json`)
      process.exitCode = 1
      continue
    }
    const dot = definition.lastIndexOf('.')
    const known = packages[definition.slice(0, dot)]?.[definition.slice(dot + 1)] ?? {}
    const declaration = readFileSync(join(models, `${model}.d.ts`), 'utf8')
    const required = new Set([...declaration.matchAll(/^ {4}'([^']+)':/gm)].map((match) => match[1]))
    const names = new Map<string, string>()
    const fields: Record<string, string> = {}
    for (const [, name, baseName, type, format] of readFileSync(join(models, `${model}.js`), 'utf8').matchAll(
      /"name": "([^"]+)",\s+"baseName": "([^"]+)",\s+"type": "([^"]+)",\s+"format": "([^"]*)"/g,
    )) {
      names.set(name!, baseName!)
      const tokens = (known[baseName!] ?? '').split(' ').filter(Boolean)
      const text = typeName(type!, format!, tokens.includes('quantity'))
      fields[baseName!] = [
        text + (required.has(name!) ? '!' : ''),
        ...tokens.filter((token) => token !== 'quantity'),
      ].join(' ')
    }
    schema.types[model] = [definition, known[''] ?? '', fields]
    descriptions[model] = descriptionsOf(declaration, names)
  }
  return { schema, descriptions }
}

/** Returns the field numbers of messages by definition: the table of facts without its sections. */
function numbersByDefinition(): Record<string, string> {
  const packages: Record<string, Record<string, string>> = protobufNumbers
  return Object.fromEntries(
    Object.entries(packages).flatMap(([name, types]) =>
      Object.entries(types).map(([type, numbers]) => [`${name}.${type}`, numbers]),
    ),
  )
}

/** Returns the version of the client and a hash of this script and the facts. */
function currentStamp(): string {
  const { version } = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8')) as { version: string }
  const hash = createHash('sha256')
    .update(readFileSync(import.meta.filename))
    .update(JSON.stringify(facts))
    .update(JSON.stringify(protobufNumbers))
    .digest('hex')
    .slice(0, 16)
  return `${version}-${hash}`
}

/** Returns the stamp of an existing file. */
function stampOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined
  const descriptor = openSync(file, 'r')
  const head = Buffer.alloc(128)
  readSync(descriptor, head)
  closeSync(descriptor)
  return /^\{"stamp":"([^"]+)"/.exec(head.toString('utf8'))?.[1]
}

/** Writes atomically, since other processes may read or generate at the same time. */
function write(file: string, content: unknown): void {
  const temporary = `${file}.${process.pid}`
  writeFileSync(temporary, JSON.stringify(content))
  renameSync(temporary, file)
}

const directory = join(root, '.build')
const stamp = currentStamp()
const others = ['descriptions.json', 'protobuf.json']
if (stampOf(join(directory, 'schema.json')) !== stamp || others.some((name) => !existsSync(join(directory, name)))) {
  const { schema, descriptions } = generate(stamp)
  mkdirSync(directory, { recursive: true })
  write(join(directory, 'descriptions.json'), descriptions)
  write(join(directory, 'protobuf.json'), numbersByDefinition())
  write(join(directory, 'schema.json'), schema)
}
