/** Builds an image from a Dockerfile and a folder with files, the build context. */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode, reasonOf } from '../../lib/explained-error.ts'
import { completeName } from '../../node/images/image-name.ts'
import {
  hostPlatform,
  ImageError,
  type ImageStore,
  isAlive,
  LayeredSnapshots,
  type Lease,
  type Platform,
  type StoredImage,
} from '../images/index.ts'
import { BuildTools } from './build-tools.ts'
import { CommandRunner } from './container/command-runner.ts'
import { readIgnoreRules } from './context/ignore-file.ts'
import { SourceTree } from './context/source-tree.ts'
import { textOf } from './dockerfile/instruction.ts'
import { neededStages } from './dockerfile/needed-stages.ts'
import { parseDockerfile } from './dockerfile/parse-dockerfile.ts'
import { storeImage } from './image-document.ts'
import { BuildCache } from './layers/build-cache.ts'
import { StageBuilder } from './stage-builder.ts'
import { platformArgs } from './steps/stage-scope.ts'

export interface BuildReport {
  /** Called for each instruction, before its work begins. */
  step(step: {
    readonly number: number
    readonly total: number
    readonly text: string
    readonly isCached: boolean
  }): void
  /** The output of commands. */
  output(chunk: Buffer): void
}

export interface BuildOptions {
  readonly store: ImageStore
  /** The folder of the build context. */
  readonly context: string
  /** Default: `Dockerfile` of the context. */
  readonly dockerfile?: string
  /** Names of the image, with or without tags. */
  readonly names: readonly string[]
  readonly buildArgs: ReadonlyMap<string, string>
  /** A name or number of a stage. Default: the last one. */
  readonly target?: string
  /** Default: this machine's. */
  readonly platform?: Platform
  /** False runs all instructions. Default: true. */
  readonly usesCache?: boolean
  /** Later times of files are replaced by this one, in seconds since 1970 (`SOURCE_DATE_EPOCH`). */
  readonly latest?: number
  /** `auto`, `shell`, or the name or path of crun or runc. */
  readonly executor: string
  readonly report: BuildReport
  readonly signal?: AbortSignal
  /** Finds an image in the store, or pulls it. */
  findImage(name: string, platform: Platform): Promise<StoredImage>
}

/** Rejects with an ImageError that names the line of the Dockerfile. */
export async function buildImage(options: BuildOptions): Promise<StoredImage> {
  const { store, report, platform = hostPlatform(), latest, signal, usesCache = true } = options
  const context = contextFolder(options.context)
  const file = options.dockerfile ?? join(options.context, 'Dockerfile')
  const names = options.names.map(completeName)
  const values = { buildArgs: options.buildArgs, platformArgs: platformArgs(platform, hostPlatform()) }
  const dockerfile = parseDockerfile(readDockerfile(file), { file, ...values })
  const stages = neededStages(dockerfile.stages, options.target)
  const tree = new SourceTree({ root: context, ignored: readIgnoreRules(context, file) })
  const snapshots = await LayeredSnapshots.open({ store })
  await removeAbandoned(snapshots)
  const lease = store.lease()
  const cache = new BuildCache(store, lease)
  const runner = new CommandRunner({
    folder: store.paths.unfinished,
    executor: options.executor,
    output: (chunk) => report.output(chunk),
  })
  try {
    const tools = new BuildTools({ store, snapshots, cache, lease, latest, usesCache, signal })
    const total = stages.reduce((sum, { instructions }) => sum + 1 + instructions.length, 0)
    let number = 0
    const builder = new StageBuilder({
      tools,
      runner,
      stages: dockerfile.stages,
      args: { ...values, globals: dockerfile.globals },
      context: { tree, hasOwners: false, name: `the build context ${options.context}` },
      platform,
      findImage: (name, wanted) => withLayers(lease, () => options.findImage(name, wanted)),
      report: (instruction, isCached) => report.step({ number: ++number, total, text: textOf(instruction), isCached }),
    })
    for (const stage of stages) await builder.build(stage)
    const image = await storeImage(store, builder.imageOf(stages.at(-1)!), names, lease)
    cache.prune()
    return image
  } finally {
    runner.close()
    lease.release()
  }
}

/** Another process may remove a base image meanwhile. */
async function withLayers(lease: Lease, find: () => Promise<StoredImage>): Promise<StoredImage> {
  const image = await find()
  await lease.add([image.id, ...image.layers.map(({ digest }) => digest)])
  return image
}

function contextFolder(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isDirectory())
    throw new ImageError('InvalidArgument', `${path} is no folder: the build context must be one`)
  return realpathSync(path)
}

function readDockerfile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    throw new ImageError('NotFound', `cannot read ${file}: ${reasonOf(error)}: name the Dockerfile with -f`)
  }
}

/** Root file systems of builds that were killed. */
async function removeAbandoned(snapshots: LayeredSnapshots): Promise<void> {
  for (const id of snapshots.list()) if (id.includes('.build.') && !isAlive(id)) await snapshots.remove(id)
}
