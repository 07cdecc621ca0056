/**
 * OpenAPI v3 documents as protobuf, in the form of gnostic's OpenAPIv3 messages. Field numbers are those of
 * OpenAPIv3.proto.
 */
import { any, entries, fieldOfPieces, isNode, Message, type Node, withExtensions } from './message.ts'

const each = (values: unknown): readonly unknown[] => (Array.isArray(values) ? values : [])

/** Writes a map as a list of pairs to a field of the message. */
function named(message: Message, field: number, map: unknown, messageOf: (value: Node) => Message): Message {
  for (const [name, value] of entries(map))
    message.message(field, new Message().text(1, name).message(2, messageOf(value as Node)))
  return message
}

const schemaOrReference = (schema: Node): Message =>
  typeof schema.$ref === 'string'
    ? new Message().message(2, new Message().text(1, schema.$ref).text(3, schema.description))
    : new Message().message(1, schemaMessage(schema))

/** This form supports numbers, booleans and texts as defaults; others become an empty message. */
function defaultMessage(value: unknown): Message {
  const message = new Message()
  if (typeof value === 'number' || typeof value === 'bigint') message.presentDouble(1, Number(value))
  else if (typeof value === 'boolean') message.presentFlag(2, value)
  else if (typeof value === 'string') message.presentText(3, value)
  return message
}

function additionalMessage(schema: unknown): Message | undefined {
  if (typeof schema === 'boolean') return new Message().presentFlag(2, schema)
  return isNode(schema) ? new Message().message(1, schemaOrReference(schema)) : undefined
}

function schemaMessage(schema: Node): Message {
  const { externalDocs, items, not, properties } = schema
  const message = new Message()
    .flag(1, schema.nullable)
    .message(
      6,
      isNode(externalDocs) ? new Message().text(1, externalDocs.description).text(2, externalDocs.url) : undefined,
    )
    .message(7, 'example' in schema ? any(schema.example) : undefined)
    .text(9, schema.title)
    .double(10, schema.multipleOf)
    .double(11, schema.maximum)
    .flag(12, schema.exclusiveMaximum)
    .double(13, schema.minimum)
    .flag(14, schema.exclusiveMinimum)
    .integer(15, schema.maxLength)
    .integer(16, schema.minLength)
    .text(17, schema.pattern)
    .integer(18, schema.maxItems)
    .integer(19, schema.minItems)
    .flag(20, schema.uniqueItems)
    .integer(21, schema.maxProperties)
    .integer(22, schema.minProperties)
    .texts(23, schema.required)
  for (const value of each(schema.enum)) message.message(24, any(value))
  message.text(25, schema.type)
  for (const one of each(schema.allOf)) message.message(26, schemaOrReference(one as Node))
  for (const one of each(schema.oneOf)) message.message(27, schemaOrReference(one as Node))
  for (const one of each(schema.anyOf)) message.message(28, schemaOrReference(one as Node))
  message
    .message(29, isNode(not) ? schemaMessage(not) : undefined)
    .message(30, isNode(items) ? new Message().message(1, schemaOrReference(items)) : undefined)
    .message(31, isNode(properties) ? named(new Message(), 1, properties, schemaOrReference) : undefined)
    .message(32, additionalMessage(schema.additionalProperties))
    .message(33, 'default' in schema ? defaultMessage(schema.default) : undefined)
    .text(34, schema.description)
    .text(35, schema.format)
  return withExtensions(message, 36, schema)
}

const parameterMessage = (parameter: Node): Message =>
  new Message().message(
    1,
    new Message()
      .text(1, parameter.name)
      .text(2, parameter.in)
      .text(3, parameter.description)
      .flag(4, parameter.required)
      .message(10, isNode(parameter.schema) ? schemaOrReference(parameter.schema) : undefined),
  )

const mediaType = ({ schema }: Node): Message =>
  new Message().message(1, isNode(schema) ? schemaOrReference(schema) : undefined)

/** The content of a body or response, by media type. */
const contentMessage = (content: unknown): Message | undefined =>
  isNode(content) ? named(new Message(), 1, content, mediaType) : undefined

const responseMessage = ({ description, content }: Node): Message =>
  new Message().message(1, new Message().text(1, description).message(3, contentMessage(content)))

const bodyMessage = ({ content, required }: Node): Message =>
  new Message().message(1, new Message().message(2, contentMessage(content)).flag(3, required))

function operationMessage(operation: Node): Message {
  const { requestBody } = operation
  const message = new Message().texts(1, operation.tags).text(3, operation.description).text(5, operation.operationId)
  for (const parameter of each(operation.parameters)) message.message(6, parameterMessage(parameter as Node))
  message
    .message(7, isNode(requestBody) ? bodyMessage(requestBody) : undefined)
    .message(8, named(new Message(), 2, operation.responses, responseMessage))
    .flag(10, operation.deprecated)
  return withExtensions(message, 13, operation)
}

const methods: readonly (readonly [string, number])[] = [
  ['get', 4],
  ['put', 5],
  ['post', 6],
  ['delete', 7],
  ['options', 8],
  ['head', 9],
  ['patch', 10],
]

function pathItemMessage(item: Node): Message {
  const message = new Message()
  for (const [method, field] of methods)
    if (isNode(item[method])) message.message(field, operationMessage(item[method]))
  for (const parameter of each(item.parameters)) message.message(13, parameterMessage(parameter as Node))
  return message
}

/** A path of the document with its operations. */
export const pathEntryV3 = (path: string, item: Node): Buffer =>
  new Message().message(1, new Message().text(1, path).message(2, pathItemMessage(item))).finish()

/** A schema of the document's components. */
export const definitionEntryV3 = (name: string, schema: Node): Buffer =>
  new Message().message(1, new Message().text(1, name).message(2, schemaOrReference(schema))).finish()

const securityScheme = ({ type, description, name, in: where }: Node): Message =>
  new Message().message(1, new Message().text(1, type).text(2, description).text(3, name).text(4, where))

/** The document as bytes, in pieces; `rest` are its fields besides paths and schemas. */
export function documentV3(rest: Node, paths: readonly Buffer[], definitions: readonly Buffer[]): Buffer[] {
  const info = rest.info as Node
  const schemes = new Message().message(7, named(new Message(), 1, rest.securitySchemes, securityScheme)).finish()
  return [
    new Message().text(1, rest.openapi).message(2, new Message().text(1, info.title).text(6, info.version)).finish(),
    ...fieldOfPieces(4, paths),
    ...fieldOfPieces(5, definitions.length > 0 ? [...fieldOfPieces(1, definitions), schemes] : [schemes]),
  ]
}
