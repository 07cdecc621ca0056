/**
 * OpenAPI v2 documents as protobuf, in the form of gnostic's OpenAPIv2 messages: the only form in which kubectl and
 * other Go clients read `/openapi/v2`. Field numbers are those of OpenAPIv2.proto.
 */
import type { JsonSchema } from './json-schema.ts'

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)
const entries = (value: unknown): [string, unknown][] => (isNode(value) ? Object.entries(value) : [])

const varintLength = (value: number): number => {
  let length = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length++
  return length
}

function writeVarint(value: number, bytes: Buffer, from: number): number {
  let at = from
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) + 128
  bytes[at++] = rest
  return at
}

/** Protobuf's types of fields on the wire, added to eight times the field's number. */
const asVarint = 0
const asDouble = 1
const asBytes = 2

/**
 * One protobuf message in the making. Fields with proto3's zero value are left out. Nothing is encoded before `finish`, so that a
 * document is no heap of small buffers.
 */
class Message {
  readonly #keys: number[] = []
  readonly #values: (string | number | Message)[] = []
  #length = 0

  #add(key: number, value: string | number | Message, length: number): this {
    this.#keys.push(key)
    this.#values.push(value)
    this.#length += varintLength(key) + length
    return this
  }

  #text(field: number, value: string): this {
    const length = Buffer.byteLength(value)
    return this.#add(field * 8 + asBytes, value, varintLength(length) + length)
  }

  text(field: number, value: unknown): this {
    return typeof value === 'string' && value !== '' ? this.#text(field, value) : this
  }

  texts(field: number, values: unknown): this {
    if (Array.isArray(values)) for (const value of values) this.#text(field, String(value))
    return this
  }

  flag(field: number, value: unknown): this {
    return value === true ? this.#add(field * 8 + asVarint, 1, 1) : this
  }

  integer(field: number, value: unknown): this {
    return typeof value === 'number' && value > 0 ? this.#add(field * 8 + asVarint, value, varintLength(value)) : this
  }

  double(field: number, value: unknown): this {
    return typeof value === 'number' && value !== 0 ? this.#add(field * 8 + asDouble, value, 8) : this
  }

  /** A nested message, which is complete; an empty one counts as present. */
  message(field: number, value: Message | undefined): this {
    return value ? this.#add(field * 8 + asBytes, value, varintLength(value.#length) + value.#length) : this
  }

  #write(bytes: Buffer, from: number): number {
    let at = from
    for (const [i, value] of this.#values.entries()) {
      const key = this.#keys[i]!
      at = writeVarint(key, bytes, at)
      if (typeof value === 'number') at = key % 8 === asDouble ? bytes.writeDoubleLE(value, at) : writeVarint(value, bytes, at)
      else if (typeof value === 'string') {
        at = writeVarint(Buffer.byteLength(value), bytes, at)
        at += bytes.write(value, at)
      } else at = value.#write(bytes, writeVarint(value.#length, bytes, at))
    }
    return at
  }

  finish(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#length)
    this.#write(bytes, 0)
    return bytes
  }
}

/** A value of any kind travels as YAML; JSON is YAML. */
const any = (value: unknown): Message => new Message().text(2, JSON.stringify(value))

/** Extensions (`x-…`) of a node into the message's field. */
function withExtensions(message: Message, field: number, node: Node): Message {
  for (const [name, value] of Object.entries(node)) if (name.startsWith('x-')) message.message(field, new Message().text(1, name).message(2, any(value)))
  return message
}

function schemaMessage(schema: Node): Message {
  const message = new Message()
    .text(1, schema.$ref)
    .text(2, schema.format)
    .text(3, schema.title)
    .text(4, schema.description)
    .message(5, 'default' in schema ? any(schema.default) : undefined)
    .double(6, schema.multipleOf)
    .double(7, schema.maximum)
    .flag(8, schema.exclusiveMaximum)
    .double(9, schema.minimum)
    .flag(10, schema.exclusiveMinimum)
    .integer(11, schema.maxLength)
    .integer(12, schema.minLength)
    .text(13, schema.pattern)
    .integer(14, schema.maxItems)
    .integer(15, schema.minItems)
    .flag(16, schema.uniqueItems)
    .integer(17, schema.maxProperties)
    .integer(18, schema.minProperties)
    .texts(19, schema.required)
  if (Array.isArray(schema.enum)) for (const value of schema.enum) message.message(20, any(value))
  const { additionalProperties, items, type, properties, allOf } = schema
  if (isNode(additionalProperties)) message.message(21, new Message().message(1, schemaMessage(additionalProperties)))
  else if (additionalProperties === true) message.message(21, new Message().flag(2, true))
  if (type !== undefined) message.message(22, new Message().texts(1, [type].flat()))
  if (isNode(items)) message.message(23, new Message().message(1, schemaMessage(items)))
  if (Array.isArray(allOf)) for (const one of allOf) message.message(24, schemaMessage(one as Node))
  if (isNode(properties)) message.message(25, namedSchemas(properties))
  return withExtensions(message, 31, schema)
}

/** A map of schemas, as a list of pairs. */
function namedSchemas(schemas: Node): Message {
  const message = new Message()
  for (const [name, schema] of Object.entries(schemas)) message.message(1, new Message().text(1, name).message(2, schemaMessage(schema as JsonSchema)))
  return message
}

const known = new WeakMap<Node, Message>()

/** The same parameters stand at thousands of operations. */
function sharedParameter(parameter: Node): Message {
  let message = known.get(parameter)
  if (!message) known.set(parameter, (message = parameterMessage(parameter)))
  return message
}

function parameterMessage(parameter: Node): Message {
  const { in: where, name, description, required, type, schema, uniqueItems } = parameter
  if (where === 'body')
    return new Message().message(
      1,
      new Message().message(
        1,
        new Message()
          .text(1, description)
          .text(2, name)
          .text(3, where)
          .flag(4, required)
          .message(5, schemaMessage(schema as Node)),
      ),
    )
  const common = new Message().flag(1, required).text(2, where).text(3, description).text(4, name)
  const nonBody =
    where === 'query'
      ? new Message().message(3, common.text(6, type).flag(20, uniqueItems))
      : new Message().message(4, common.text(5, type).flag(19, uniqueItems))
  return new Message().message(1, new Message().message(2, nonBody))
}

function responsesMessage(responses: unknown): Message {
  const message = new Message()
  for (const [code, response] of entries(responses)) {
    const { description, schema } = response as Node
    const body = new Message().text(1, description).message(2, schema ? new Message().message(1, schemaMessage(schema as Node)) : undefined)
    message.message(1, new Message().text(1, code).message(2, new Message().message(1, body)))
  }
  return message
}

function operationMessage(operation: Node): Message {
  const message = new Message()
    .texts(1, operation.tags)
    .text(3, operation.description)
    .text(5, operation.operationId)
    .texts(6, operation.produces)
    .texts(7, operation.consumes)
  if (Array.isArray(operation.parameters)) for (const parameter of operation.parameters) message.message(8, sharedParameter(parameter as Node))
  message.message(9, responsesMessage(operation.responses)).texts(10, operation.schemes).flag(11, operation.deprecated)
  return withExtensions(message, 13, operation)
}

const methods: readonly (readonly [string, number])[] = [
  ['get', 2],
  ['put', 3],
  ['post', 4],
  ['delete', 5],
  ['options', 6],
  ['head', 7],
  ['patch', 8],
]

function pathItemMessage(item: Node): Message {
  const message = new Message()
  for (const [method, field] of methods) if (isNode(item[method])) message.message(field, operationMessage(item[method]))
  if (Array.isArray(item.parameters)) for (const parameter of item.parameters) message.message(9, sharedParameter(parameter as Node))
  return message
}

/** A path of the document with its operations. */
export const pathEntry = (path: string, item: Node): Buffer => new Message().message(2, new Message().text(1, path).message(2, pathItemMessage(item))).finish()

/** A definition of the document. */
export const definitionEntry = (name: string, schema: Node): Buffer =>
  new Message().message(1, new Message().text(1, name).message(2, schemaMessage(schema))).finish()

/** The document as bytes, in pieces: `rest` is what it says beside its paths and definitions. */
export function gnosticDocument(rest: Node, paths: readonly Buffer[], definitions: readonly Buffer[]): Buffer[] {
  const info = rest.info as Node
  const security = new Message()
  for (const [name, { type, name: header, in: where, description }] of Object.entries(rest.securityDefinitions as Record<string, Node>)) {
    const apiKey = new Message().text(1, type).text(2, header).text(3, where).text(4, description)
    security.message(1, new Message().text(1, name).message(2, new Message().message(2, apiKey)))
  }
  const required = new Message()
  for (const [name] of entries((rest.security as readonly unknown[])[0])) required.message(1, new Message().text(1, name).message(2, new Message()))
  return [
    new Message().text(1, rest.swagger).message(2, new Message().text(1, info.title).text(2, info.version)).finish(),
    ...field(8, paths),
    ...field(9, definitions),
    new Message().message(12, required).message(13, security).finish(),
  ]
}

/** A message that is at hand in pieces, as a field. */
function field(number: number, pieces: readonly Buffer[]): Buffer[] {
  const key = number * 8 + asBytes
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const head = Buffer.alloc(varintLength(key) + varintLength(length))
  writeVarint(length, head, writeVarint(key, head, 0))
  return [head, ...pieces]
}
