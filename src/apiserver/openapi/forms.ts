/** The forms of OpenAPI documents (v2 and v3, JSON and protobuf), and their content negotiation. */
import { writeJson } from '../../lib/exact-json.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { acceptClauses } from '../negotiation/accept.ts'
import { definitionEntryV2, documentV2, pathEntryV2 } from './protobuf/v2.ts'
import { definitionEntryV3, documentV3, pathEntryV3 } from './protobuf/v3.ts'
import type { Flavour } from './schemas/json-schema.ts'

type Node = Readonly<Record<string, unknown>>
type NamedNode = readonly [name: string, node: Node]

export interface DocumentForm {
  readonly flavour: Flavour
  readonly contentType: string
  /** A path with its operations, as bytes. */
  readonly path: (path: string, item: Node) => Buffer
  /** A definition, as bytes. */
  readonly definition: (name: string, schema: Node) => Buffer
  /** Assembles the document, in pieces. `parameters` are the shared ones of v2. */
  readonly document: (
    version: string,
    paths: readonly Buffer[],
    definitions: readonly Buffer[],
    parameters: readonly NamedNode[],
  ) => Buffer[]
}

/** `1.36` */
const info = (version: string): Node => ({ title: 'Kubernetes', version })
const bearer = {
  BearerToken: { description: 'Bearer Token authentication', in: 'header', name: 'authorization', type: 'apiKey' },
}
const security = [{ BearerToken: [] }]

/** A member with a trailing comma, which `object` removes from the last one. */
const member = (name: string, value: Node): Buffer => Buffer.from(`${JSON.stringify(name)}:${writeJson(value)},`)
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
  document: (version, paths, definitions, parameters) => [
    Buffer.from(`{"swagger":"2.0","info":${JSON.stringify(info(version))},"paths":`),
    ...object(paths),
    Buffer.from(',"definitions":'),
    ...object(definitions),
    Buffer.from(`,"parameters":${JSON.stringify(Object.fromEntries(parameters))}`),
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
  path: pathEntryV2,
  definition: definitionEntryV2,
  document: (version, paths, definitions, parameters) =>
    documentV2(
      {
        swagger: '2.0',
        info: info(version),
        parameters: Object.fromEntries(parameters),
        securityDefinitions: bearer,
        security,
      },
      paths,
      definitions,
    ),
}

export const protobufV3: DocumentForm = {
  flavour: 'v3',
  contentType: 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf',
  path: pathEntryV3,
  definition: definitionEntryV3,
  document: (version, paths, definitions) =>
    documentV3({ openapi: '3.0.0', info: info(version), securitySchemes: bearer }, paths, definitions),
}

/**
 * Media types of the forms; JSON is first, so that it is the default. Those of protobuf have an old name with `@`, too.
 */
const forms: Readonly<Record<Flavour, readonly (readonly [mediaType: string, form: DocumentForm])[]>> = {
  v2: withOldNames(jsonV2, protobufV2),
  v3: withOldNames(jsonV3, protobufV3),
}

function withOldNames(json: DocumentForm, protobuf: DocumentForm): (readonly [string, DocumentForm])[] {
  return [
    [json.contentType, json],
    [protobuf.contentType, protobuf],
    [protobuf.contentType.replace(/\.v1\.0/, '@v1.0'), protobuf],
  ]
}

const accepts = (clause: string, mediaType: string): boolean => {
  const [type, subtype] = clause.split('/')
  const [ownType, ownSubtype] = mediaType.split('/')
  return (type === '*' || type === ownType) && (subtype === '*' || subtype === ownSubtype)
}

/** Returns the form that the client prefers; JSON without a header. Throws 406 if it accepts none. */
export function acceptedForm(accept: string | undefined, flavour: Flavour): DocumentForm {
  for (const { type } of acceptClauses(accept || '*/*')) {
    const chosen = forms[flavour].find(([mediaType]) => accepts(type, mediaType))
    if (chosen) return chosen[1]
  }
  const served = new Set(forms[flavour].map(([, { contentType }]) => contentType))
  throw new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${[...served].join(', ')}`)
}
