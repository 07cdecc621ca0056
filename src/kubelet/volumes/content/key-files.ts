/** The files of configMaps and secrets: all keys, or chosen ones at chosen paths. */
import type { ConfigMap, Secret } from '../../../client/kinds.ts'
import type { Payload, PayloadFile } from './payload.ts'

/** A key and the path of its file. */
export interface KeyPath {
  readonly key: string
  readonly path: string
  readonly mode?: number
}

export interface KeyFilesOptions {
  readonly items?: readonly KeyPath[]
  readonly defaultMode: number
  /** Missing keys are left out. */
  readonly isOptional: boolean
}

/** The default of the API, for pods that did not pass its defaulting. */
export const standardMode = 0o644

/** Throws an Error with upstream's message for a missing key that is not optional. */
export const configMapFiles = (configMap: ConfigMap | undefined, options: KeyFilesOptions): Payload =>
  keyFiles(configMapData(configMap), options, 'configmap references non-existent config key')

/** As `configMapFiles`. */
export const secretFiles = (secret: Secret | undefined, options: KeyFilesOptions): Payload =>
  keyFiles(binaryData(secret?.data), options, 'references non-existent secret key')

type Data = ReadonlyMap<string, Uint8Array>

function keyFiles(data: Data, { items = [], defaultMode, isOptional }: KeyFilesOptions, missing: string): Payload {
  const files = new Map<string, PayloadFile>()
  if (items.length === 0) for (const [key, value] of data) files.set(key, { data: value, mode: defaultMode })
  for (const { key, path, mode = defaultMode } of items) {
    const value = data.get(key)
    if (value) files.set(path, { data: value, mode })
    else if (!isOptional) throw new Error(`${missing}: ${key}`)
  }
  return files
}

const configMapData = (configMap: ConfigMap | undefined): Data =>
  new Map([
    ...Object.entries(configMap?.data ?? {}).map(([key, text]) => [key, Buffer.from(text)] as const),
    ...binaryData(configMap?.binaryData),
  ])

const binaryData = (data: Readonly<Record<string, string>> = {}): Data =>
  new Map(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64')]))
