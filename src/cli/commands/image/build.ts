/** `t8s image build`: builds an image from a Dockerfile, or from a folder with a root file system. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { imageSourceFlag } from '../../flags/nodes/image-source-flag.ts'
import { collect, type RegistryFlags, registrySettings, withRegistryOptions } from '../../flags/nodes/registry-flags.ts'
import { stopSignal } from '../../running/stop-signal.ts'
import { runsAsOwnRoot } from '../../running/without-root.ts'
import { imageRootOption, type Store, type StoreFlags, withStore } from './store-option.ts'

interface BuildFlags extends StoreFlags, RegistryFlags {
  readonly tag: readonly string[]
  readonly file?: string
  readonly buildArg: readonly string[]
  readonly target?: string
  readonly platform?: string
  readonly cache: boolean
  readonly pull?: boolean
  readonly executor: string
  readonly progress: 'auto' | 'plain'
  readonly quiet?: boolean
  readonly imageSource: readonly string[]
  readonly rootfs?: string
  readonly entrypoint?: readonly string[]
  readonly cmd?: readonly string[]
  readonly env: readonly string[]
  readonly label: readonly string[]
  readonly user?: string
  readonly workdir?: string
  readonly expose: readonly string[]
}

const examples = `
Examples:
  t8s image build -t app:1 .
  t8s image build -t app:1 -f deploy/Dockerfile --build-arg VERSION=1.2 --target runtime .
  kubectl run app --image=app:1                          a node of t8s has the image already

  t8s image build --rootfs ./root -t tools:1 --entrypoint '["/bin/tool"]' --env LANG=C

Without root, the build runs in a user namespace. SOURCE_DATE_EPOCH makes images that are equal byte by byte.`

export function buildCommand(): Command {
  const command = new Command('build')
    .argument('[CONTEXT]', 'the folder with the files that COPY takes')
    .description('build an image from a Dockerfile, or from a folder with a root file system')
    .option('-t, --tag <NAME>', 'a name of the image; can be repeated', collect, [])
    .option('-f, --file <FILE>', 'the Dockerfile (default: CONTEXT/Dockerfile)')
    .option('--build-arg <KEY=VALUE>', 'a value for ARG; KEY alone takes it from the environment', collect, [])
    .option('--target <STAGE>', 'the stage to build (default: the last one)')
    .option('--platform <PLATFORM>', "linux/arm64, linux/arm/v7 … (default: this machine's)")
    .option('--no-cache', 'run all instructions again')
    .option('--pull', 'pull base images even if they are present')
    .option('--executor <NAME>', 'runs commands: crun, runc, shell, or auto for the first that is usable', 'auto')
    .addOption(new Option('--progress <KIND>', 'plain prints all output').choices(['auto', 'plain']).default('auto'))
    .option('-q, --quiet', 'print the ID only')
    .option('--rootfs <DIR>', 'build from this folder, without a Dockerfile; the flags below configure the image')
    .option('--entrypoint <LIST>', 'a JSON list, or one word', wordsOf)
    .option('--cmd <LIST>', 'a JSON list, or one word', wordsOf)
    .option('--env <KEY=VALUE>', 'a variable; can be repeated', collect, [])
    .option('--label <KEY=VALUE>', 'a label; can be repeated', collect, [])
    .option('--user <USER>', 'the user of containers: a name or number, and :GROUP')
    .option('--workdir <DIR>', 'the folder that containers start in')
    .option('--expose <PORT>', 'a port such as 80 or 53/udp; can be repeated', collect, [])
  return withRegistryOptions(command)
    .addOption(imageSourceFlag())
    .addOption(imageRootOption())
    .addHelpText('after', examples)
    .action(build)
}

async function build(context: string | undefined, flags: BuildFlags): Promise<void> {
  if (await runsAsOwnRoot()) return
  const started = performance.now()
  await withStore(flags, async (store) => {
    const image = await (flags.rootfs === undefined
      ? fromDockerfile(store, context, flags)
      : fromRootfs(store, context, flags))
    if (flags.quiet) {
      process.stdout.write(`${image.id}\n`)
      return
    }
    const { sizeText } = await import('./size-text.ts')
    const { completeName } = await import('../../../node/images/image-name.ts')
    const id = image.id.slice('sha256:'.length, 'sha256:'.length + 12)
    const names = flags.tag.map(completeName).join(', ')
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    process.stdout.write(`built ${names ? `${names} (${id})` : id}, ${sizeText(image.size)}, in ${seconds} s\n`)
  })
}

async function fromDockerfile(store: Store, context: string | undefined, flags: BuildFlags) {
  if (context === undefined) throw new ExplainedError('name the build context: t8s image build -t NAME .')
  const { buildImage } = await import('../../../runtime/build/index.ts')
  const { parsePlatform } = await import('../../../runtime/images/index.ts')
  const { BuildProgress } = await import('./build-progress.ts')
  const { BaseImages } = await import('./base-images.ts')
  const terminal = flags.quiet ? undefined : process.stderr
  const progress = new BuildProgress({ terminal, isPlain: flags.progress === 'plain' })
  const bases = new BaseImages({
    store,
    settings: registrySettings(flags),
    isPulled: flags.pull === true,
    imageSources: flags.imageSource,
    terminal,
  })
  const aborted = new AbortController()
  const stopping = stopSignal()
  void stopping.requested.then(() => aborted.abort())
  try {
    return await buildImage({
      store,
      context,
      ...(flags.file !== undefined && { dockerfile: flags.file }),
      names: flags.tag,
      buildArgs: new Map(flags.buildArg.flatMap(argOf)),
      ...(flags.target !== undefined && { target: flags.target }),
      ...(flags.platform !== undefined && { platform: parsePlatform(flags.platform) }),
      usesCache: flags.cache,
      ...latestTime(),
      executor: flags.executor,
      report: progress,
      signal: aborted.signal,
      findImage: (name, platform) => bases.find(name, platform, aborted.signal),
    })
  } catch (error) {
    progress.failed()
    if (aborted.signal.aborted) throw new ExplainedError('the build was interrupted', { cause: error })
    throw error
  } finally {
    progress.end()
    bases.close()
  }
}

async function fromRootfs(store: Store, context: string | undefined, flags: BuildFlags) {
  if (context !== undefined) throw new ExplainedError('--rootfs has no build context: leave CONTEXT out')
  const { buildRootfs } = await import('../../../runtime/build/index.ts')
  const { parsePlatform } = await import('../../../runtime/images/index.ts')
  const { entrypoint, cmd, env, label, user, workdir, expose } = flags
  return buildRootfs({
    store,
    folder: flags.rootfs!,
    names: flags.tag,
    ...(flags.platform !== undefined && { platform: parsePlatform(flags.platform) }),
    ...latestTime(),
    config: {
      ...(entrypoint && { Entrypoint: entrypoint }),
      ...(cmd && { Cmd: cmd }),
      ...(env.length > 0 && { Env: env }),
      ...(label.length > 0 && { Labels: Object.fromEntries(label.map(pairOf)) }),
      ...(user !== undefined && { User: user }),
      ...(workdir !== undefined && { WorkingDir: workdir }),
      ...(expose.length > 0 && {
        ExposedPorts: Object.fromEntries(expose.map((port) => [port.includes('/') ? port : `${port}/tcp`, {}])),
      }),
    },
  })
}

function wordsOf(text: string): readonly string[] {
  if (!text.startsWith('[')) return [text]
  try {
    const words: unknown = JSON.parse(text)
    if (Array.isArray(words) && words.every((word) => typeof word === 'string')) return words
  } catch {
    // Reported below.
  }
  throw new InvalidArgumentError('It must be a JSON list of words: ["/bin/tool", "--flag"].')
}

/** A key alone takes the value of this process, if there is one. */
function argOf(text: string): [string, string][] {
  const equals = text.indexOf('=')
  const value = equals < 0 ? process.env[text] : text.slice(equals + 1)
  return value === undefined ? [] : [[equals < 0 ? text : text.slice(0, equals), value]]
}

function pairOf(text: string): [string, string] {
  const equals = text.indexOf('=')
  if (equals < 1) throw new ExplainedError(`${JSON.stringify(text)} is no label: write KEY=VALUE`)
  return [text.slice(0, equals), text.slice(equals + 1)]
}

/** As all tools for reproducible builds. */
function latestTime(): { readonly latest?: number } {
  const text = process.env.SOURCE_DATE_EPOCH
  if (text === undefined || text === '') return {}
  if (!/^\d{1,11}$/.test(text)) throw new ExplainedError('SOURCE_DATE_EPOCH must be a number of seconds since 1970')
  return { latest: Number(text) }
}
