/**
 * OpenAPI v2 documents as protobuf, in the form of gnostic's OpenAPIv2 messages: the only form in which kubectl and
 * other Go clients read `/openapi/v2`. Field numbers are those of OpenAPIv2.proto.
 */
import type { JsonSchema } from '../schemas/json-schema.ts'
import { any, entries, fieldOfPieces, isNode, Message, type Node, withExtensions } from './message.ts'

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
  for (const [name, schema] of Object.entries(schemas))
    message.message(1, new Message().text(1, name).message(2, schemaMessage(schema as JsonSchema)))
  return message
}

const known = new WeakMap<Node, Message>()

/** Caches messages: thousands of operations have the same parameters, most as references. */
function sharedParameter(parameter: Node): Message {
  let message = known.get(parameter)
  if (!message) known.set(parameter, (message = itemMessage(parameter)))
  return message
}

/** A parameter of an operation: itself, or a reference. */
const itemMessage = (parameter: Node): Message =>
  '$ref' in parameter
    ? new Message().message(2, new Message().text(1, parameter.$ref))
    : new Message().message(1, parameterMessage(parameter))

function parameterMessage(parameter: Node): Message {
  const { in: where, name, description, required, type, schema, uniqueItems } = parameter
  if (where === 'body')
    return new Message().message(
      1,
      new Message()
        .text(1, description)
        .text(2, name)
        .text(3, where)
        .flag(4, required)
        .message(5, schemaMessage(schema as Node)),
    )
  const common = new Message().flag(1, required).text(2, where).text(3, description).text(4, name)
  const nonBody =
    where === 'query'
      ? new Message().message(3, common.text(6, type).flag(20, uniqueItems))
      : new Message().message(4, common.text(5, type).flag(19, uniqueItems))
  return new Message().message(2, nonBody)
}

function responsesMessage(responses: unknown): Message {
  const message = new Message()
  for (const [code, response] of entries(responses)) {
    const { description, schema } = response as Node
    const body = new Message()
      .text(1, description)
      .message(2, schema ? new Message().message(1, schemaMessage(schema as Node)) : undefined)
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
  if (Array.isArray(operation.parameters))
    for (const parameter of operation.parameters) message.message(8, sharedParameter(parameter as Node))
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
  for (const [method, field] of methods)
    if (isNode(item[method])) message.message(field, operationMessage(item[method]))
  if (Array.isArray(item.parameters))
    for (const parameter of item.parameters) message.message(9, sharedParameter(parameter as Node))
  return message
}

/** A path of the document with its operations. */
export const pathEntryV2 = (path: string, item: Node): Buffer =>
  new Message().message(2, new Message().text(1, path).message(2, pathItemMessage(item))).finish()

/** A definition of the document. */
export const definitionEntryV2 = (name: string, schema: Node): Buffer =>
  new Message().message(1, new Message().text(1, name).message(2, schemaMessage(schema))).finish()

/** The document as bytes, in pieces; `rest` are its fields besides paths and definitions. */
export function documentV2(rest: Node, paths: readonly Buffer[], definitions: readonly Buffer[]): Buffer[] {
  const info = rest.info as Node
  const security = new Message()
  for (const [name, { type, name: header, in: where, description }] of Object.entries(
    rest.securityDefinitions as Record<string, Node>,
  )) {
    const apiKey = new Message().text(1, type).text(2, header).text(3, where).text(4, description)
    security.message(1, new Message().text(1, name).message(2, new Message().message(2, apiKey)))
  }
  const required = new Message()
  for (const [name] of entries((rest.security as readonly unknown[])[0]))
    required.message(1, new Message().text(1, name).message(2, new Message()))
  const parameters = new Message()
  for (const [name, parameter] of entries(rest.parameters))
    parameters.message(1, new Message().text(1, name).message(2, parameterMessage(parameter as Node)))
  return [
    new Message().text(1, rest.swagger).message(2, new Message().text(1, info.title).text(2, info.version)).finish(),
    ...fieldOfPieces(8, paths),
    ...fieldOfPieces(9, definitions),
    new Message().message(10, parameters).message(12, required).message(13, security).finish(),
  ]
}
