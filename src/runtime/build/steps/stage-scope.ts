/** A stage between two of its instructions: the image so far, and variables. */
import { formatPlatform, type Platform } from '../../images/index.ts'
import type { Variables } from '../dockerfile/expand-words.ts'
import type { HistoryEntry, ImageState } from '../image-document.ts'
import type { CachedLayer } from '../layers/build-cache.ts'

export class StageScope {
  image: ImageState
  /** Values that `ARG` has declared in this stage. */
  readonly args = new Map<string, string>()
  /** `CMD` of a base image does not belong to a new `ENTRYPOINT`. */
  hasOwnCommand = false

  constructor(image: ImageState) {
    this.image = image
  }

  /** `ENV` comes before `ARG`. */
  readonly variables: Variables = (name) => this.environment.get(name) ?? this.args.get(name)

  get environment(): ReadonlyMap<string, string> {
    return new Map(
      this.texts('Env').map((pair) => {
        const equals = pair.indexOf('=')
        return [pair.slice(0, equals), pair.slice(equals + 1)]
      }),
    )
  }

  /** The list of strings of a field; empty without it. */
  texts(field: string): readonly string[] {
    const value = this.image.config[field]
    return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
  }

  get workingDir(): string {
    const { WorkingDir } = this.image.config
    return typeof WorkingDir === 'string' && WorkingDir !== '' ? WorkingDir : '/'
  }

  get user(): string {
    const { User } = this.image.config
    return typeof User === 'string' ? User : ''
  }

  /** The program that reads commands that are no list. */
  get shell(): readonly string[] {
    const shell = this.texts('Shell')
    return shell.length > 0 ? shell : ['/bin/sh', '-c']
  }

  configure(fields: Readonly<Record<string, unknown>>): void {
    this.image = { ...this.image, config: { ...this.image.config, ...fields } }
  }

  /** Adds a layer, or an instruction that has changed no file. */
  record(text: string, result?: CachedLayer): void {
    const { layers, history } = this.image
    const created = result?.created ?? this.image.created
    const entry: HistoryEntry = {
      created,
      created_by: text,
      comment: 't8s image build',
      ...(!result?.layer && { empty_layer: true }),
    }
    const added = result?.layer ? [result.layer] : []
    this.image = { ...this.image, created, layers: [...layers, ...added], history: [...history, entry] }
  }
}

/** Values that all builds have, as BuildKit's; `ARG NAME` declares them in a stage. */
export function platformArgs(target: Platform, build: Platform): ReadonlyMap<string, string> {
  const of = (prefix: string, platform: Platform): [string, string][] => [
    [`${prefix}PLATFORM`, formatPlatform(platform)],
    [`${prefix}OS`, platform.os],
    [`${prefix}ARCH`, platform.architecture],
    [`${prefix}VARIANT`, platform.variant ?? ''],
  ]
  return new Map([...of('TARGET', target), ...of('BUILD', build)])
}
