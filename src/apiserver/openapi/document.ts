/**
 * OpenAPI documents, v2 and v3, made of operations and definitions: piece by piece, so that hundreds of custom resources hold nobody
 * up, and nothing is kept but the bytes.
 */
import type { ResourceDefinition } from '../../api/resource.ts'
import type { Steps } from '../../lib/flow/pauses.ts'
import { own, setOwn } from '../../lib/own.ts'
import { mergeV2, type OpenApiV2 } from '../aggregator/index.ts'
import { customDefinitions } from './custom-definitions.ts'
import type { DocumentForm } from './forms.ts'
import { definitionClosure, type Flavour, type JsonSchema, metaPackage, referencesOf, referenceTo } from './json-schema.ts'
import type { Operation } from './operation.ts'
import { operationsOf } from './operations.ts'
import { parameter } from './parameters.ts'
import { staticOperations } from './static-paths.ts'

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

/** What the operations of each path are, in the order of the paths. */
function pathItems(operations: readonly Operation[], flavour: Flavour): [path: string, item: Record<string, unknown>][] {
  const paths = new Map<string, Record<string, unknown>>()
  for (const operation of operations) {
    let item = paths.get(operation.path)
    if (!item) {
      item = {}
      paths.set(operation.path, item)
    }
    item[operation.method] = flavour === 'v2' ? operationV2(operation) : operationV3(operation)
    if (operation.pathParameters.length > 0) item.parameters = operation.pathParameters.map((name) => parameter(name, flavour))
  }
  return [...paths].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Kinds of the meta package that exist in every group: their schemas name all of Kubernetes' own. */
function inAllGroups(name: string, schema: JsonSchema, builtIn: readonly ResourceDefinition[]): JsonSchema {
  const kind = name === `${metaPackage}.DeleteOptions` ? 'DeleteOptions' : name === `${metaPackage}.WatchEvent` ? 'WatchEvent' : undefined
  if (!kind) return schema
  const groupVersions = new Map(builtIn.map(({ group, version }) => [`${group}/${version}`, { group, version }]))
  return { ...schema, 'x-kubernetes-group-version-kind': [...groupVersions.values()].map(({ group, version }) => ({ group, kind, version })) }
}

export interface DocumentOptions {
  /** The resources that the document shows. */
  readonly resources: readonly ResourceDefinition[]
  /** Paths of the index whose own operations it shows: `apis/apps/v1`, `api`, `version`, … */
  readonly paths: readonly string[]
  /** All of Kubernetes' own resources. */
  readonly builtIn: readonly ResourceDefinition[]
  /** Documents of other servers, in version 2, whose paths it shows too. */
  readonly others: readonly OpenApiV2[]
  /** `v1.36.2+t8s.1`: stands in `info.version`. */
  readonly version: string
}

/** The bytes of a document, in pieces. */
export function* openapiDocument({ resources, paths, builtIn, others, version }: DocumentOptions, form: DocumentForm): Steps<Buffer[]> {
  const { flavour } = form
  const roots = new Set<string>()
  const items: Buffer[] = []
  const definitions: Buffer[] = []
  // What others say is held against what stands here already.
  const present = { paths: {}, definitions: {} }
  const define = (name: string, schema: JsonSchema): void => {
    definitions.push(form.definition(name, schema))
    if (others.length > 0) setOwn(present.definitions, name, schema)
  }
  const add = (operations: readonly Operation[]): void => {
    for (const { body, answer } of operations) {
      if (body) roots.add(body.definition)
      if (answer) roots.add(answer)
    }
    for (const [path, item] of pathItems(operations, flavour)) {
      items.push(form.path(path, item))
      if (others.length > 0) setOwn(present.paths, path, item)
    }
  }
  for (const path of paths) {
    add(staticOperations(path, builtIn))
    yield
  }
  for (const resource of resources) {
    add(operationsOf(resource))
    yield
  }
  for (const resource of resources) {
    for (const [name, schema] of customDefinitions(resource, flavour)) {
      referencesOf(schema, roots)
      define(name, schema)
    }
    yield
  }
  for (const [name, schema] of definitionClosure(roots, flavour)) {
    define(name, inAllGroups(name, schema, builtIn))
    yield
  }
  const merged: OpenApiV2 = others.length > 0 ? mergeV2(present, others) : {}
  for (const [path, item] of Object.entries(merged.paths ?? {})) if (own(present.paths, path) === undefined) items.push(form.path(path, item as JsonSchema))
  for (const [name, schema] of Object.entries(merged.definitions ?? {}))
    if (own(present.definitions, name) === undefined) definitions.push(form.definition(name, schema as JsonSchema))
  return form.document(version, items, definitions)
}
