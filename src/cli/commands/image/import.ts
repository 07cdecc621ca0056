/** `t8s image import`: imports archives of images. */
import { Command } from 'commander'
import { imageRootOption, type StoreFlags, withStore } from './store-option.ts'

interface ImportFlags extends StoreFlags {
  readonly platform?: string
  readonly name?: string
}

export function importCommand(): Command {
  return new Command('import')
    .argument('<FILE>', 'an archive of docker save or of the OCI image layout, compressed or not')
    .description('import the images of an archive')
    .option('--platform <PLATFORM>', "linux/arm64, linux/arm/v7 … (default: this machine's)")
    .option('--name <NAME>', 'the name of an image that has none in the archive')
    .addOption(imageRootOption())
    .action(async (file: string, { platform, name, ...flags }: ImportFlags) => {
      const { importArchive, parsePlatform } = await import('../../../runtime/images/index.ts')
      await withStore(flags, async (store) => {
        const images = await importArchive(store, file, {
          ...(platform !== undefined && { platform: parsePlatform(platform) }),
          ...(name !== undefined && { name }),
        })
        for (const { id, tags } of images) process.stdout.write(`imported ${tags.join(', ') || id}\n`)
      })
    })
}
