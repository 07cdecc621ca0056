/** Configurations of images: their platform, layers, and the defaults of containers. */
import { corruptContent } from '../image-error.ts'
import { type Digest, decodeDigest } from './digest.ts'
import { isObject, type Platform, parseObject, stringsOf, textOf } from './manifest.ts'

/** Defaults of containers, by Docker's names. Absent fields are empty. */
export interface ContainerDefaults {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly StopSignal: string
  readonly Labels: Readonly<Record<string, string>>
  /** Such as `80/tcp`. */
  readonly ExposedPorts: readonly string[]
  /** Paths. */
  readonly Volumes: readonly string[]
}

export interface ImageConfig {
  readonly platform: Platform
  /** RFC 3339; empty if it is unknown. */
  readonly created: string
  readonly defaults: ContainerDefaults
  /** Digests of the layers' archives before compression, the lowest first. */
  readonly diffIds: readonly Digest[]
}

/** Longer configurations are rejected, in bytes. */
export const maxConfigBytes = 8 * 1024 * 1024

/** Throws an ImageError for a configuration that is not valid. */
export function decodeImageConfig(bytes: Uint8Array): ImageConfig {
  const fields = parseObject(bytes, 'the configuration')
  const { rootfs, config } = fields
  if (!isObject(rootfs) || rootfs.type !== 'layers' || !Array.isArray(rootfs.diff_ids))
    throw corruptContent('the configuration has no rootfs of type "layers"')
  const variant = textOf(fields.variant)
  return {
    platform: { architecture: textOf(fields.architecture), os: textOf(fields.os), ...(variant && { variant }) },
    created: textOf(fields.created),
    defaults: defaultsOf(isObject(config) ? config : {}),
    diffIds: rootfs.diff_ids.map((digest, i) => decodeDigest(digest, `rootfs.diff_ids[${i}]`)),
  }
}

const defaultsOf = (config: Readonly<Record<string, unknown>>): ContainerDefaults => ({
  User: textOf(config.User),
  Env: textsOf(config.Env),
  Entrypoint: textsOf(config.Entrypoint),
  Cmd: textsOf(config.Cmd),
  WorkingDir: textOf(config.WorkingDir),
  StopSignal: textOf(config.StopSignal),
  Labels: stringsOf(config.Labels),
  ExposedPorts: isObject(config.ExposedPorts) ? Object.keys(config.ExposedPorts) : [],
  Volumes: isObject(config.Volumes) ? Object.keys(config.Volumes) : [],
})

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
