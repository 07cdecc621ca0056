/** OpenAPI documents, v2 and v3, made of operations and definitions. */
import type { ResourceDefinition } from '../../api/resource.ts'
import { customDefinitions } from './custom-definitions.ts'
import { definitionClosure, type Flavour, type JsonSchema, metaPackage, referenceTo } from './json-schema.ts'
import { type Operation, operationsOf } from './operations.ts'
import { type ParameterName, parameter } from './parameters.ts'
import { groupVersionPath, staticOperations } from './static-paths.ts'

const produced = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']
const streamed = [...produced, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch']

const reasons: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

const answerSchema = ({ answer }: Operation, flavour: Flavour): JsonSchema => (answer ? referenceTo(answer, flavour) : { type: 'string' })

const answerTypes = ({ answer, streams }: Operation): readonly string[] => (answer ? (streams ? streamed : produced) : ['*/*'])

const responses = (operation: Operation, flavour: Flavour): Record<string, unknown> => {
  const schema = answerSchema(operation, flavour)
  const content = flavour === 'v2' ? { schema } : { content: Object.fromEntries(answerTypes(operation).map((type) => [type, { schema }])) }
  return {
    ...Object.fromEntries(operation.codes.map((code) => [String(code), { description: reasons[code], ...content }])),
    401: { description: 'Unauthorized' },
  }
}

const extensions = ({ action, kind }: Operation): Record<string, unknown> => ({
  ...(action && { 'x-kubernetes-action': action }),
  ...(kind && { 'x-kubernetes-group-version-kind': kind }),
})

function operationV3(operation: Operation): Record<string, unknown> {
  const { body, tag, description, id, parameters, deprecated } = operation
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(parameters.length > 0 && { parameters: parameters.map((name) => parameter(name, 'v3')) }),
    ...(body && {
      requestBody: {
        content: Object.fromEntries(body.types.map((type) => [type, { schema: referenceTo(body.definition, 'v3') }])),
        ...(body.required && { required: true }),
      },
    }),
    responses: responses(operation, 'v3'),
    ...(deprecated && { deprecated }),
    ...extensions(operation),
  }
}

function operationV2(operation: Operation): Record<string, unknown> {
  const { body, tag, description, id, parameters, deprecated } = operation
  const bodyParameter = body && { name: 'body', in: 'body', ...(body.required && { required: true }), schema: referenceTo(body.definition, 'v2') }
  return {
    description,
    consumes: body && body.types.length > 1 ? body.types : ['*/*'],
    produces: answerTypes(operation),
    schemes: ['https'],
    tags: [tag],
    operationId: id,
    ...((parameters.length > 0 || bodyParameter) && {
      parameters: [...(bodyParameter ? [bodyParameter] : []), ...parameters.map((name) => parameter(name, 'v2'))],
    }),
    responses: responses(operation, 'v2'),
    ...(deprecated && { deprecated }),
    ...extensions(operation),
  }
}

function pathItems(operations: readonly Operation[], flavour: Flavour): Record<string, Record<string, unknown>> {
  const paths = new Map<string, Record<string, unknown>>()
  for (const operation of operations) {
    let item = paths.get(operation.path)
    if (!item) {
      item = {}
      paths.set(operation.path, item)
    }
    item[operation.method] = flavour === 'v2' ? operationV2(operation) : operationV3(operation)
    if (operation.pathParameters.length > 0) item.parameters = operation.pathParameters.map((name: ParameterName) => parameter(name, flavour))
  }
  return Object.fromEntries([...paths].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** What the operations refer to, and what their kinds are. */
function rootsOf(operations: readonly Operation[]): Set<string> {
  const roots = new Set<string>()
  for (const { body, answer } of operations) {
    if (body) roots.add(body.definition)
    if (answer) roots.add(answer)
  }
  return roots
}

/** Kinds of the meta package that exist in every group: their schemas name all of Kubernetes' own. */
function inAllGroups(definitions: Record<string, JsonSchema>, resources: readonly ResourceDefinition[]): Record<string, JsonSchema> {
  const builtIn = resources.filter(({ custom }) => !custom)
  const groupVersions = [...new Map(builtIn.map(({ group, version }) => [`${group}/${version}`, { group, version }])).values()]
  const result = { ...definitions }
  for (const kind of ['DeleteOptions', 'WatchEvent']) {
    const name = `${metaPackage}.${kind}`
    if (result[name])
      result[name] = { ...result[name], 'x-kubernetes-group-version-kind': groupVersions.map(({ group, version }) => ({ group, kind, version })) }
  }
  return result
}

export interface DocumentOptions {
  /** `v1.36.0+t8s.1`: stands in `info.version`. */
  readonly version: string
}

const info = (version: string): Record<string, string> => ({ title: 'Kubernetes', version })
const bearer = { BearerToken: { description: 'Bearer Token authentication', in: 'header', name: 'authorization', type: 'apiKey' } }

/**
 * The OpenAPI v3 document of a path of the index: `apis/apps/v1`, `api`, `apis/apps`, `version`, …; undefined for paths that are not served.
 * `resources` are all resources; the document shows those of the path's group and version.
 */
export function openapiV3(resources: readonly ResourceDefinition[], path: string, { version }: DocumentOptions): Record<string, unknown> | undefined {
  const own = resources.filter((resource) => groupVersionPath(resource) === path)
  const operations = [...staticOperations(path, resources), ...own.flatMap(operationsOf)]
  if (operations.length === 0) return undefined
  const schemas = definitionClosure(rootsOf(operations), 'v3', customDefinitions(own, 'v3'))
  return {
    openapi: '3.0.0',
    info: info(version),
    paths: pathItems(operations, 'v3'),
    components: { ...(Object.keys(schemas).length > 0 && { schemas: inAllGroups(schemas, resources) }), securitySchemes: bearer },
  }
}

/** The OpenAPI v2 document of everything. */
export function openapiV2(resources: readonly ResourceDefinition[], paths: readonly string[], { version }: DocumentOptions): Record<string, unknown> {
  const operations = [...paths.flatMap((path) => staticOperations(path, resources)), ...resources.flatMap(operationsOf)]
  return {
    swagger: '2.0',
    info: info(version),
    paths: pathItems(operations, 'v2'),
    definitions: inAllGroups(definitionClosure(rootsOf(operations), 'v2', customDefinitions(resources, 'v2')), resources),
    securityDefinitions: bearer,
    security: [{ BearerToken: [] }],
  }
}
