/** `COPY` and `ADD`: files of the build context, of another stage or of another image. */
import { posix } from 'node:path'
import { byteString, fileEntry, type LayerArchive, layerAttributes, plainEntry } from '../../images/index.ts'
import type { BuildTools } from '../build-tools.ts'
import { type Source, type SourceFile, SourceTree } from '../context/source-tree.ts'
import { StepError } from '../dockerfile/build-error.ts'
import type { Instruction } from '../dockerfile/instruction.ts'
import { filesOf, type ImageState } from '../image-document.ts'
import { cacheKey } from '../layers/build-cache.ts'
import { sourceDigest } from '../layers/source-digest.ts'
import { type Owner, TargetTree } from '../layers/target-tree.ts'
import { isArchive, unpackInto } from '../layers/unpack-into.ts'
import { type CopyArguments, copyArguments, ownerOf } from './copy-arguments.ts'
import type { StageScope } from './stage-scope.ts'
import type { StepResult } from './step-result.ts'

/** The files that a step copies from. */
export interface CopySource {
  readonly tree: SourceTree
  /** True if owners and attributes of the files are copied, too. */
  readonly hasOwners: boolean
  /** For messages: `the build context .`. */
  readonly name: string
}

/** Copies from the build context. */
export async function copyFromContext(
  tools: BuildTools,
  scope: StageScope,
  instruction: Instruction,
  source: CopySource,
): Promise<StepResult> {
  const args = copyArguments(scope, instruction)
  const key = keyOf(tools, scope, instruction, args)
  return copyFound(tools, scope, { args, source, keys: [key], unpacks: instruction.keyword === 'ADD' })
}

/** Copies from another stage or image. It is not even mounted if an earlier build has copied the same from it. */
export async function copyFromImage(
  tools: BuildTools,
  scope: StageScope,
  instruction: Instruction,
  image: Pick<ImageState, 'layers'>,
): Promise<StepResult> {
  const args = copyArguments(scope, instruction)
  const key = keyOf(tools, scope, instruction, args)
  const imageKey = cacheKey(key, filesOf(image))
  const found = await tools.cached(imageKey)
  if (found) return { result: found, isCached: true }
  return tools.view(image, async (root) => {
    const source = {
      tree: new SourceTree({ root }),
      hasOwners: tools.isRoot,
      name: String(instruction.flags.get('from')),
    }
    const step = await copyFound(tools, scope, { args, source, keys: [key], unpacks: false })
    tools.options.cache.put(imageKey, step.result)
    return step
  })
}

const keyOf = (tools: BuildTools, { image }: StageScope, { keyword }: Instruction, args: CopyArguments): string =>
  cacheKey(keyword, filesOf(image), args, tools.options.latest, tools.isRoot)

interface CopyTask {
  readonly args: CopyArguments
  readonly source: CopySource
  readonly keys: readonly string[]
  /** True if archives are unpacked. */
  readonly unpacks: boolean
}

async function copyFound(tools: BuildTools, scope: StageScope, task: CopyTask): Promise<StepResult> {
  const { args, source, unpacks } = task
  const sources = args.sources.flatMap((path) => {
    if (/^(?:https?|ftp|git|ssh):\/\/|^git@/.test(path))
      throw new StepError(`${path} is not downloaded: download it into the build context`)
    const found = source.tree.find(path)
    if (found.length === 0) throw new StepError(`${path} is not in ${source.name}`)
    return found
  })
  if (sources.length + args.inline.length > 1 && !args.destination.endsWith('/'))
    throw new StepError(`several files need a folder: end ${args.destination} with a slash`)
  const key = cacheKey(...task.keys, sourceDigest(sources, source.hasOwners))
  const cached = await tools.cached(key)
  if (cached) return { result: cached, isCached: true }
  const result = await tools.view(scope.image, (root) =>
    tools.makeLayer([key], async (archive) => {
      const chown = args.chown === undefined ? undefined : ownerOf(args.chown, root)
      const options = { ...tools.targetOptions(archive, root), owner: chown ?? { uid: 0, gid: 0 } }
      const tree = new TargetTree({ ...options, time: newest(sources, options.latest) ?? options.time })
      const writer = new CopyWriter({ archive, tree, chown, args, source, unpacks, latest: options.latest })
      for (const one of sources) await writer.add(one)
      writer.addInline()
    }),
  )
  return { result, isCached: false }
}

/** Folders that are created are as old as the newest file, so that the same files make the same layer. */
function newest(sources: readonly Source[], latest: number | undefined): number | undefined {
  const times = sources.flatMap(({ files }) => files.map(({ stats }) => Math.floor(stats.mtimeMs / 1000)))
  if (times.length === 0) return undefined
  return Math.min(
    times.reduce((a, b) => Math.max(a, b)),
    latest ?? Number.POSITIVE_INFINITY,
  )
}

interface CopyWriterOptions {
  readonly archive: LayerArchive
  readonly tree: TargetTree
  readonly chown: Owner | undefined
  readonly args: CopyArguments
  readonly source: CopySource
  readonly unpacks: boolean
  readonly latest: number | undefined
}

class CopyWriter {
  readonly #options: CopyWriterOptions
  /** The destination without links. */
  readonly #place: string
  readonly #isFolder: boolean

  constructor(options: CopyWriterOptions) {
    const { tree, args } = options
    this.#options = options
    this.#place = tree.resolve(args.destination)
    this.#isFolder = args.destination.endsWith('/') || tree.statOf(this.#place)?.isDirectory() === true
  }

  async add(source: Source): Promise<void> {
    const { tree, unpacks, archive, chown, latest, args } = this.#options
    const [first] = source.files
    if (first!.stats.isDirectory()) {
      tree.folder(this.#place, args.mode ?? first!.stats.mode & 0o7777)
      for (const file of source.files.slice(1)) await this.#copy(file, posix.join(this.#place, file.name))
    } else if (unpacks && first!.stats.isFile() && (await isArchive(first!.path))) {
      tree.folder(this.#place)
      await unpackInto(first!.path, { tree, archive, folder: args.destination, owner: chown, latest })
    } else await this.#copy(first!, this.#targetOf(source.baseName))
  }

  addInline(): void {
    const { tree, archive, args, chown, latest } = this.#options
    for (const { name, content } of args.inline) {
      const place = this.#targetOf(name)
      tree.beforeFile(place)
      const bytes = Buffer.from(content)
      const fields = { size: bytes.length, mode: args.mode ?? 0o644, ...chown, mtime: latest ?? 0 }
      const entry = plainEntry(byteString(place), fields)
      archive.beginEntry(entry)
      archive.write(bytes)
      archive.endEntry(entry)
    }
  }

  #targetOf(baseName: string): string {
    return this.#isFolder ? posix.join(this.#place, baseName) : this.#place
  }

  async #copy({ path, stats }: SourceFile, place: string): Promise<void> {
    const { archive, tree, chown, args, source, latest } = this.#options
    if (posix.basename(place).startsWith('.wh.'))
      throw new StepError(`${path} cannot be in an image: names that begin with .wh. delete files there`)
    const bytes = byteString(path)
    const entry = fileEntry(byteString(place), bytes, stats, latest)
    if (!entry) return
    const changed = {
      ...entry,
      ...(source.hasOwners ? { xattrs: layerAttributes(bytes) } : { uid: 0, gid: 0 }),
      ...chown,
      ...(args.mode !== undefined && entry.type !== 'symlink' && { mode: args.mode }),
    }
    if (stats.isDirectory()) tree.replaceFolder(place, changed)
    else {
      tree.beforeFile(place)
      await archive.add(changed, stats.isFile() ? path : undefined)
    }
  }
}
