/** What an operation of the API is, in terms that OpenAPI v2 and v3 share. */
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
  readonly parameters: readonly ParameterName[]
  /** Parameters in the path, which all operations of a path share. */
  readonly pathParameters: readonly ParameterName[]
  /** The definition of the body, and the media types it may come in. */
  readonly body?: { readonly definition: string; readonly types: readonly string[]; readonly required: boolean }
  /** The definition of the answer; undefined means text. */
  readonly answer?: string
  readonly codes: readonly number[]
  /** Whether watch events may come back. */
  readonly streams: boolean
  readonly deprecated?: boolean
}
