/** `t8s image pull`: pulls an image with the logins of Docker. */
import { Command } from 'commander'
import { imageRootOption, type StoreFlags, withStore } from './store-option.ts'

interface PullFlags extends StoreFlags {
  readonly platform?: string
  readonly insecureRegistry: readonly string[]
  readonly mirror: readonly string[]
  readonly quiet?: boolean
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

export function pullCommand(): Command {
  return new Command('pull')
    .argument('<IMAGE>', 'the name of the image: busybox, registry.example:5000/team/app:1.2')
    .description('pull an image from its registry')
    .option('--platform <PLATFORM>', "linux/arm64, linux/arm/v7 … (default: this machine's)")
    .option('--insecure-registry <HOST>', 'a registry without TLS; loopback addresses need no flag', collect, [])
    .option('--mirror <REGISTRY=URL>', 'ask this mirror first: docker.io=http://127.0.0.1:5000', collect, [])
    .option('-q, --quiet', 'print the ID only')
    .addOption(imageRootOption())
    .action(pull)
}

async function pull(name: string, flags: PullFlags): Promise<void> {
  const { dockerLogin, ImagePuller, imageSource, parsePlatform } = await import('../../../runtime/images/index.ts')
  const { Progress } = await import('./progress.ts')
  await withStore(flags, async (store) => {
    const progress = new Progress(flags.quiet ? undefined : process.stderr)
    const puller = new ImagePuller({ store, insecure: flags.insecureRegistry, mirrors: mirrorsOf(flags.mirror) })
    try {
      const login = await dockerLogin(imageSource(name).registry)
      const platform = flags.platform === undefined ? undefined : parsePlatform(flags.platform)
      const image = await puller.pull(name, { login, platform, onProgress: (blob) => progress.show(blob) })
      progress.end()
      process.stdout.write(`${flags.quiet ? image.id : (image.digests[0] ?? image.id)}\n`)
    } finally {
      progress.end()
      puller.close()
    }
  })
}

function mirrorsOf(flags: readonly string[]): Record<string, string[]> {
  const mirrors = Object.groupBy(flags, (flag) => flag.slice(0, Math.max(0, flag.indexOf('='))))
  return Object.fromEntries(
    Object.entries(mirrors).map(([registry, values = []]) => [
      registry,
      values.map((flag) => flag.slice(registry.length + 1)),
    ]),
  )
}
