/** `t8s image pull`: pulls an image with the logins of Docker. */
import { Command } from 'commander'
import { type RegistryFlags, registrySettings, withRegistryOptions } from '../../flags/nodes/registry-flags.ts'
import { imageRootOption, type StoreFlags, withStore } from './store-option.ts'

interface PullFlags extends StoreFlags, RegistryFlags {
  readonly platform?: string
  readonly quiet?: boolean
}

export function pullCommand(): Command {
  const command = new Command('pull')
    .argument('<IMAGE>', 'the name of the image: busybox, registry.example:5000/team/app:1.2')
    .description('pull an image from its registry')
    .option('--platform <PLATFORM>', "linux/arm64, linux/arm/v7 … (default: this machine's)")
  return withRegistryOptions(command)
    .option('-q, --quiet', 'print the ID only')
    .addOption(imageRootOption())
    .action(pull)
}

async function pull(name: string, flags: PullFlags): Promise<void> {
  const { dockerLogin, ImagePuller, imageSource, parsePlatform } = await import('../../../runtime/images/index.ts')
  const { Progress } = await import('./progress.ts')
  await withStore(flags, async (store) => {
    const progress = new Progress(flags.quiet ? undefined : process.stderr)
    const puller = new ImagePuller({ store, ...registrySettings(flags) })
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
