/**
 * Builds OpenAPI documents, v2 and v3, from operations and definitions in steps, so that hundreds of custom resources
 * do not block the event loop, and only the bytes stay in memory.
 */
import type { ResourceDefinition } from '../../api/resource.ts'
import type { Steps } from '../../lib/flow/steps.ts'
import { own, setOwn } from '../../lib/own.ts'
import { mergeV2, type OpenApiV2 } from '../aggregator/index.ts'
import type { DocumentForm } from './forms.ts'
import type { Operation } from './paths/operation.ts'
import { operationsOf } from './paths/operations.ts'
import { inNameOrder, type ParameterName, parameter } from './paths/parameters.ts'
import { SharedParameters } from './paths/shared-parameters.ts'
import { staticOperations } from './paths/static-paths.ts'
import { customDefinitions } from './schemas/custom-definitions.ts'
import {
  definitionClosure,
  type Flavour,
  type JsonSchema,
  metaPackage,
  referencesOf,
  referenceTo,
} from './schemas/json-schema.ts'
import { type GroupVersion, schemeVersions } from './schemas/scheme-versions.ts'

const reasons: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

const answerSchema = ({ answer }: Operation, flavour: Flavour): JsonSchema =>
  answer ? referenceTo(answer, flavour) : { type: 'string' }

const responses = (operation: Operation, flavour: Flavour): Record<string, unknown> => {
  const schema = answerSchema(operation, flavour)
  const content =
    flavour === 'v2'
      ? { schema }
      : { content: Object.fromEntries(operation.produces.map((type) => [type, { schema }])) }
  return {
    ...Object.fromEntries(operation.codes.map((code) => [String(code), { description: reasons[code], ...content }])),
    401: { description: 'Unauthorized' },
  }
}

const extensions = ({ action, kind }: Operation): Record<string, unknown> => ({
  ...(action && { 'x-kubernetes-action': action }),
  ...(kind && { 'x-kubernetes-group-version-kind': kind }),
})

function operationV3(operation: Operation, parameters: readonly ParameterName[]): Record<string, unknown> {
  const { body, tag, description, id, consumes = [] } = operation
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(parameters.length > 0 && { parameters: parameters.map((name) => parameter(name, 'v3')) }),
    ...(body && {
      requestBody: {
        content: Object.fromEntries(consumes.map((type) => [type, { schema: referenceTo(body.definition, 'v3') }])),
        ...(body.required && { required: true }),
      },
    }),
    responses: responses(operation, 'v3'),
    ...extensions(operation),
  }
}

function operationV2(
  operation: Operation,
  parameters: readonly ParameterName[],
  shared: SharedParameters,
): Record<string, unknown> {
  const { body, tag, description, id, consumes, produces } = operation
  // `body` sorts first: only `allowWatchBookmarks` would sort before it, and no operation with a body has that.
  const all = [
    ...(body ? [shared.body(body.definition, body.required)] : []),
    ...parameters.map((name) => shared.parameter(name)),
  ]
  return {
    description,
    ...(consumes && { consumes }),
    produces,
    schemes: ['https'],
    tags: [tag],
    operationId: id,
    ...(all.length > 0 && { parameters: all }),
    responses: responses(operation, 'v2'),
    ...extensions(operation),
  }
}

/**
 * Path items, sorted by path. Parameters that all operations of a path have are listed once, at the path.
 */
function pathItems(
  operations: readonly Operation[],
  flavour: Flavour,
  shared: SharedParameters,
): [path: string, item: Record<string, unknown>][] {
  return [...Map.groupBy(operations, ({ path }) => path)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, here]) => {
      const common = new Set(
        here[0]!.parameters.filter((name) => here.every(({ parameters }) => parameters.includes(name))),
      )
      const item: Record<string, unknown> = {}
      for (const operation of here) {
        const own = inNameOrder(operation.parameters.filter((name) => !common.has(name)))
        item[operation.method] = flavour === 'v2' ? operationV2(operation, own, shared) : operationV3(operation, own)
      }
      const names = inNameOrder(common)
      if (names.length > 0)
        item.parameters = names.map((name) => (flavour === 'v2' ? shared.parameter(name) : parameter(name, flavour)))
      return [path, item]
    })
}

/** Adds the group versions to the schemas of meta kinds that exist in all groups. */
function withGroupVersions(name: string, schema: JsonSchema, groupVersions: readonly GroupVersion[]): JsonSchema {
  const kind =
    name === `${metaPackage}.DeleteOptions`
      ? 'DeleteOptions'
      : name === `${metaPackage}.WatchEvent`
        ? 'WatchEvent'
        : undefined
  return kind
    ? {
        ...schema,
        'x-kubernetes-group-version-kind': groupVersions.map(({ group, version }) => ({ group, kind, version })),
      }
    : schema
}

export interface DocumentOptions {
  /** The resources in the document. */
  readonly resources: readonly ResourceDefinition[]
  /** Paths of the index whose own operations are in the document: `apis/apps/v1`, `api`, `version`, … */
  readonly paths: readonly string[]
  /** All built-in resources. */
  readonly builtIn: readonly ResourceDefinition[]
  /** v2 documents of other servers, to be merged. */
  readonly others: readonly OpenApiV2[]
  /** `info.version`: `1.36`. */
  readonly version: string
}

/**
 * The group versions of a document: all of Kubernetes in v2, the core group's and its own in v3.
 */
function groupVersionsOf(resources: readonly ResourceDefinition[], flavour: Flavour): readonly GroupVersion[] {
  if (flavour === 'v2') return schemeVersions
  const shown = [{ group: '', version: 'v1' }, ...resources]
  return [...new Map(shown.map(({ group, version }) => [`${group}/${version}`, { group, version }])).values()]
}

/** The bytes of a document, in pieces. */
export function* openapiDocument(
  { resources, paths, builtIn, others, version }: DocumentOptions,
  form: DocumentForm,
): Steps<Buffer[]> {
  const { flavour } = form
  const shared = new SharedParameters()
  const groupVersions = groupVersionsOf(resources, flavour)
  const roots = new Set<string>()
  const items: Buffer[] = []
  const definitions: Buffer[] = []
  // The document so far, for merging documents of other servers.
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
    for (const [path, item] of pathItems(operations, flavour, shared)) {
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
    define(name, withGroupVersions(name, schema, groupVersions))
    yield
  }
  const merged: OpenApiV2 = others.length > 0 ? mergeV2(present, others) : {}
  for (const [path, item] of Object.entries(merged.paths ?? {}))
    if (own(present.paths, path) === undefined) items.push(form.path(path, item as JsonSchema))
  for (const [name, schema] of Object.entries(merged.definitions ?? {}))
    if (own(present.definitions, name) === undefined) definitions.push(form.definition(name, schema as JsonSchema))
  return form.document(version, items, definitions, shared.all)
}
