/** `t8s image push`: pushes an image with the logins of Docker. */
import { Command } from 'commander'
import { collect } from '../../flags/nodes/registry-flags.ts'
import { imageRootOption, type StoreFlags, withStore } from './store-option.ts'

interface PushFlags extends StoreFlags {
  readonly insecureRegistry: readonly string[]
  readonly quiet?: boolean
}

export function pushCommand(): Command {
  return new Command('push')
    .argument('<IMAGE>', 'the name or ID of an image here')
    .argument(
      '[TARGET]',
      'the name at the registry: registry.example:5000/team/app:1.2 (default: the name of the image)',
    )
    .description('push an image to a registry')
    .option('--insecure-registry <HOST>', 'a registry without TLS; loopback addresses need no flag', collect, [])
    .option('-q, --quiet', 'print the name with the digest only')
    .addOption(imageRootOption())
    .action(push)
}

async function push(reference: string, target: string | undefined, flags: PushFlags): Promise<void> {
  const { dockerLogin, ImagePusher, imageSource } = await import('../../../runtime/images/index.ts')
  const { Progress } = await import('./progress.ts')
  await withStore(flags, async (store) => {
    const name = target ?? reference
    const progress = new Progress(flags.quiet ? undefined : process.stderr)
    const pusher = new ImagePusher({ store, insecure: flags.insecureRegistry })
    try {
      store.get(reference)
      const login = await dockerLogin(imageSource(name).registry)
      const pushed = await pusher.push(reference, name, { login, onProgress: (blob) => progress.show(blob) })
      progress.end()
      const { presentBlobs, uploadedBlobs } = pushed
      const counts = `${uploadedBlobs} blobs sent, ${presentBlobs} were there`
      process.stdout.write(flags.quiet ? `${pushed.name}\n` : `pushed ${pushed.name}: ${counts}\n`)
    } finally {
      progress.end()
      pusher.close()
    }
  })
}
