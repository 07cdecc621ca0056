/** `t8s image serve`: a registry with the images of the store. */
import { Command, InvalidArgumentError } from 'commander'
import { stopSignal } from '../../running/stop-signal.ts'
import { imageRootOption, type StoreFlags, withStore } from './store-option.ts'

interface ServeFlags extends StoreFlags {
  readonly address: string
  readonly port: number
  readonly readOnly?: boolean
}

export function serveCommand(): Command {
  return new Command('serve')
    .description('serve the images as a registry without logins, which accepts pushes')
    .option('--address <IP>', 'the address to listen on', '127.0.0.1')
    .option('--port <PORT>', 'the port to listen on; 0 chooses a free one', portOf, 5000)
    .option('--read-only', 'reject pushes')
    .addOption(imageRootOption())
    .action(async ({ address, port, readOnly = false, ...flags }: ServeFlags) => {
      const { serveImages } = await import('../../../runtime/images/index.ts')
      await withStore(flags, async (store) => {
        const stopping = stopSignal()
        const served = await serveImages({ store, address, port, isWritable: !readOnly })
        process.stdout.write(`serving ${flags.imageRoot} on http://${served.host}\n`)
        await stopping.requested
        await served.stop()
      })
    })
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('It must be 0 to 65535.')
  return Number(text)
}
