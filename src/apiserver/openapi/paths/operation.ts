/** Operations of the API, independent of the OpenAPI version. */
import type { ParameterName } from './parameters.ts'

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch'

export interface Operation {
  readonly path: string
  readonly method: Method
  readonly id: string
  readonly tag: string
  readonly description: string
  readonly action: string
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string }
  /** Path and query parameters. */
  readonly parameters: readonly ParameterName[]
  /** The definition of the body. */
  readonly body?: { readonly definition: string; readonly required: boolean }
  /** Media types of bodies; undefined if the document lists none. */
  readonly consumes?: readonly string[]
  /** The definition of the response; undefined for text. */
  readonly answer?: string
  /** Media types of responses. */
  readonly produces: readonly string[]
  readonly codes: readonly number[]
}

const anything = ['*/*']
const objects = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']
const patches = ['application/json-patch+json', 'application/merge-patch+json']

/**
 * Media types of operations of built-in kinds and of custom resources, which have neither protobuf nor strategic merge
 * patches.
 */
export const mediaTypes = {
  anything,
  objects,
  streams: [...objects, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'],
  log: ['text/plain', ...objects],
  patches: [...patches, 'application/strategic-merge-patch+json', 'application/apply-patch+yaml'],
  customObjects: ['application/json', 'application/yaml'],
  customPatches: [...patches, 'application/apply-patch+yaml'],
}
