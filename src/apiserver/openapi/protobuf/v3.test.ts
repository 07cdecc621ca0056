import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resource } from '../../../api/resource.ts'
import { runSync } from '../../../lib/flow/steps.ts'
import { type Tag, WireReader, wireTypes } from '../../../machinery/protobuf/wire.ts'
import { openapiDocument } from '../document.ts'
import { jsonV3, protobufV3 } from '../forms.ts'

type Json = Record<string, unknown>

/** The type of a field: `[]` denotes a list, `{}` a map, which is a list of pairs. */
type Field = readonly [name: string, type: string]

/**
 * The messages of OpenAPIv3.proto that documents use. `.` is the message itself, `...` its members one by one.
 */
const messages: Readonly<Record<string, Readonly<Record<number, Field>>>> = {
  Document: { 1: ['openapi', 'text'], 2: ['info', 'Info'], 4: ['paths', 'Paths'], 5: ['components', 'Components'] },
  Info: { 1: ['title', 'text'], 6: ['version', 'text'] },
  Paths: { 1: ['...', 'PathItem'] },
  PathItem: {
    4: ['get', 'Operation'],
    5: ['put', 'Operation'],
    6: ['post', 'Operation'],
    7: ['delete', 'Operation'],
    8: ['options', 'Operation'],
    9: ['head', 'Operation'],
    10: ['patch', 'Operation'],
    13: ['parameters', 'ParameterOrReference[]'],
  },
  Operation: {
    1: ['tags', 'text[]'],
    3: ['description', 'text'],
    5: ['operationId', 'text'],
    6: ['parameters', 'ParameterOrReference[]'],
    7: ['requestBody', 'RequestBodyOrReference'],
    8: ['responses', 'Responses'],
    10: ['deprecated', 'flag'],
    13: ['...', 'Any'],
  },
  ParameterOrReference: { 1: ['.', 'Parameter'] },
  Parameter: {
    1: ['name', 'text'],
    2: ['in', 'text'],
    3: ['description', 'text'],
    4: ['required', 'flag'],
    10: ['schema', 'SchemaOrReference'],
  },
  RequestBodyOrReference: { 1: ['.', 'RequestBody'] },
  RequestBody: { 1: ['description', 'text'], 2: ['content', 'MediaTypes'], 3: ['required', 'flag'] },
  Responses: { 2: ['...', 'ResponseOrReference'] },
  ResponseOrReference: { 1: ['.', 'Response'] },
  Response: { 1: ['description', 'text'], 3: ['content', 'MediaTypes'] },
  MediaTypes: { 1: ['...', 'MediaType'] },
  MediaType: { 1: ['schema', 'SchemaOrReference'] },
  Components: { 1: ['schemas', 'SchemasOrReferences'], 7: ['securitySchemes', 'SecuritySchemesOrReferences'] },
  SchemasOrReferences: { 1: ['...', 'SchemaOrReference'] },
  SecuritySchemesOrReferences: { 1: ['...', 'SecuritySchemeOrReference'] },
  SecuritySchemeOrReference: { 1: ['.', 'SecurityScheme'] },
  SecurityScheme: { 1: ['type', 'text'], 2: ['description', 'text'], 3: ['name', 'text'], 4: ['in', 'text'] },
  SchemaOrReference: { 1: ['.', 'Schema'], 2: ['.', 'Reference'] },
  Reference: { 1: ['$ref', 'text'] },
  Schema: {
    1: ['nullable', 'flag'],
    6: ['externalDocs', 'ExternalDocs'],
    7: ['example', 'Any'],
    9: ['title', 'text'],
    10: ['multipleOf', 'double'],
    11: ['maximum', 'double'],
    12: ['exclusiveMaximum', 'flag'],
    13: ['minimum', 'double'],
    14: ['exclusiveMinimum', 'flag'],
    15: ['maxLength', 'integer'],
    16: ['minLength', 'integer'],
    17: ['pattern', 'text'],
    18: ['maxItems', 'integer'],
    19: ['minItems', 'integer'],
    20: ['uniqueItems', 'flag'],
    21: ['maxProperties', 'integer'],
    22: ['minProperties', 'integer'],
    23: ['required', 'text[]'],
    24: ['enum', 'Any[]'],
    25: ['type', 'text'],
    26: ['allOf', 'SchemaOrReference[]'],
    27: ['oneOf', 'SchemaOrReference[]'],
    28: ['anyOf', 'SchemaOrReference[]'],
    29: ['not', 'Schema'],
    30: ['items', 'ItemsItem'],
    31: ['properties', 'SchemasOrReferences'],
    32: ['additionalProperties', 'AdditionalPropertiesItem'],
    33: ['default', 'DefaultType'],
    34: ['description', 'text'],
    35: ['format', 'text'],
    36: ['...', 'Any'],
  },
  ItemsItem: { 1: ['.', 'SchemaOrReference'] },
  AdditionalPropertiesItem: { 1: ['.', 'SchemaOrReference'], 2: ['.', 'flag'] },
  DefaultType: { 1: ['.', 'double'], 2: ['.', 'flag'], 3: ['.', 'text'] },
  ExternalDocs: { 1: ['description', 'text'], 2: ['url', 'text'] },
}

const plain: Readonly<Record<string, (wire: WireReader) => unknown>> = {
  text: (wire) => wire.text(),
  flag: (wire) => wire.unsigned() === 1,
  integer: (wire) => wire.int64(),
  double: (wire) => wire.double(),
}
const wireTypeOf: Readonly<Record<string, number>> = {
  flag: wireTypes.varint,
  integer: wireTypes.varint,
  double: wireTypes.fixed64,
}

/** Decodes a message to the form of the JSON document. Fails for unknown fields. */
function read(wire: WireReader, type: string): unknown {
  if (type === 'Any') return JSON.parse(String(pair(wire, 'text')[1]))
  let result: unknown = {}
  while (!wire.done) {
    const tag: Tag = wire.tag(type)
    const [name, fieldType] = messages[type]?.[tag.number] ?? assert.fail(`${type} has no field ${tag.number}`)
    const one = fieldType.replace('[]', '')
    assert.equal(tag.wireType, wireTypeOf[one] ?? wireTypes.bytes, `${type}.${name}`)
    const members = result as Json
    if (name === '...') {
      const [key, value] = wire.message(() => pair(wire, one))
      members[key] = value
      continue
    }
    const value = plain[one]?.(wire) ?? wire.message(() => read(wire, one))
    if (name === '.') result = value
    else if (one === fieldType) members[name] = value
    else members[name] = [...((members[name] as unknown[]) ?? []), value]
  }
  return result
}

/** A name and its value. */
function pair(wire: WireReader, type: string): [name: string, value: unknown] {
  let name = ''
  let value: unknown
  while (!wire.done) {
    if (wire.tag(type).number === 1) name = wire.text()
    else value = plain[type]?.(wire) ?? wire.message(() => read(wire, type))
  }
  return [name, value]
}

const parcelSchema = {
  description: 'A parcel on its way.',
  type: 'object',
  required: ['spec'],
  externalDocs: { description: 'More', url: 'https://example.com' },
  properties: {
    spec: {
      type: 'object',
      title: 'Spec',
      maxProperties: 9,
      minProperties: 1,
      properties: {
        weight: { 'x-kubernetes-int-or-string': true, default: 0 },
        size: {
          type: 'number',
          minimum: -1.5,
          maximum: 2e9,
          exclusiveMinimum: true,
          exclusiveMaximum: true,
          multipleOf: 0.5,
          default: 1.5,
          example: 2,
        },
        note: {
          type: 'string',
          nullable: true,
          pattern: '^a*$',
          minLength: 1,
          maxLength: 300,
          default: '',
          enum: ['', 'a', null],
        },
        urgent: { type: 'boolean', default: false, not: { enum: [true] } },
        labels: { type: 'object', additionalProperties: { type: 'string', format: 'date' } },
        anything: {
          type: 'object',
          additionalProperties: true,
          default: {},
          'x-kubernetes-preserve-unknown-fields': true,
        },
        nothing: { type: 'object', additionalProperties: false },
        stops: { type: 'array', minItems: 1, maxItems: 5, items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      },
      allOf: [{ required: ['note'] }],
      oneOf: [{ required: ['size'] }, {}],
      'x-kubernetes-validations': [{ rule: 'self.size > 0.0', message: 'ä' }],
    },
  },
}

const custom = {
  fingerprint: 'parcels',
  type: () => assert.fail('not needed'),
  prune: () => [],
  decodeError: () => undefined,
  schema: () => parcelSchema,
}
const parcels = resource({
  group: 'example.com',
  version: 'v1',
  kind: 'Parcel',
  plural: 'parcels',
  scope: 'Namespaced',
  subresources: { status: true },
  custom,
})
const pods = resource({
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  scope: 'Namespaced',
  subresources: { status: true },
})
const deployments = resource({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
})
const namespaces = resource({ group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', scope: 'Cluster' })

test('the decoded protobuf equals the JSON document', () => {
  for (const [path, resources] of [
    ['api/v1', [pods, namespaces]],
    ['apis/apps/v1', [deployments]],
    ['apis/example.com/v1', [parcels]],
    ['version', []],
    ['openid/v1/jwks', []],
  ] as const) {
    const options = { version: '1.36', paths: [path], resources, builtIn: [pods, namespaces, deployments], others: [] }
    const json = Buffer.concat(runSync(openapiDocument(options, jsonV3)))
    const protobuf = Buffer.concat(runSync(openapiDocument(options, protobufV3)))
    assert.deepEqual(read(new WireReader(protobuf), 'Document'), JSON.parse(json.toString()), path)
  }
})
