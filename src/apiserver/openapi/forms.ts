/** The forms in which OpenAPI documents are written: v2 and v3 as JSON, v2 as protobuf. */
import { definitionEntry, gnosticDocument, pathEntry } from './gnostic.ts'
import type { Flavour } from './json-schema.ts'

type Node = Readonly<Record<string, unknown>>

export interface DocumentForm {
  readonly flavour: Flavour
  readonly contentType: string
  /** A path with its operations, as bytes. */
  readonly path: (path: string, item: Node) => Buffer
  /** A definition, as bytes. */
  readonly definition: (name: string, schema: Node) => Buffer
  /** The document of such bytes, in pieces. */
  readonly document: (version: string, paths: readonly Buffer[], definitions: readonly Buffer[]) => Buffer[]
}

/** `v1.36.0+t8s.1` */
const info = (version: string): Node => ({ title: 'Kubernetes', version })
const bearer = { BearerToken: { description: 'Bearer Token authentication', in: 'header', name: 'authorization', type: 'apiKey' } }
const security = [{ BearerToken: [] }]

/** With a comma behind, which the last member of an object loses. */
const member = (name: string, value: Node): Buffer => Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)},`)
const object = (members: readonly Buffer[]): Buffer[] => [
  Buffer.from('{'),
  ...members.slice(0, -1),
  ...members.slice(-1).map((last) => last.subarray(0, -1)),
  Buffer.from('}'),
]

export const jsonV2: DocumentForm = {
  flavour: 'v2',
  contentType: 'application/json',
  path: member,
  definition: member,
  document: (version, paths, definitions) => [
    Buffer.from(`{"swagger":"2.0","info":${JSON.stringify(info(version))},"paths":`),
    ...object(paths),
    Buffer.from(',"definitions":'),
    ...object(definitions),
    Buffer.from(`,"securityDefinitions":${JSON.stringify(bearer)},"security":${JSON.stringify(security)}}`),
  ],
}

export const jsonV3: DocumentForm = {
  flavour: 'v3',
  contentType: 'application/json',
  path: member,
  definition: member,
  document: (version, paths, definitions) => [
    Buffer.from(`{"openapi":"3.0.0","info":${JSON.stringify(info(version))},"paths":`),
    ...object(paths),
    Buffer.from(',"components":{'),
    ...(definitions.length > 0 ? [Buffer.from('"schemas":'), ...object(definitions), Buffer.from(',')] : []),
    Buffer.from(`"securitySchemes":${JSON.stringify(bearer)}}}`),
  ],
}

export const protobufV2: DocumentForm = {
  flavour: 'v2',
  contentType: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  path: pathEntry,
  definition: definitionEntry,
  document: (version, paths, definitions) =>
    gnosticDocument({ swagger: '2.0', info: info(version), securityDefinitions: bearer, security }, paths, definitions),
}
