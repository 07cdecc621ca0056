/** `t8s image remove`: removes images, or one of their names. */
import { Command } from 'commander'
import { runsAsOwnRoot } from '../../running/without-root.ts'
import { imageRootOption, type StoreFlags, withStore } from './store-option.ts'

export function removeCommand(): Command {
  return new Command('remove')
    .alias('rm')
    .argument('<IMAGE...>', 'names, or IDs')
    .description('remove images: by ID with all names, by name only that name while there are others')
    .addOption(imageRootOption())
    .action(async (references: readonly string[], flags: StoreFlags) => {
      // Files of unpacked layers belong to other users.
      if (await runsAsOwnRoot()) return
      await withStore(flags, async (store) => {
        for (const reference of references) {
          const image = store.get(reference)
          const isId = image.id.includes(reference.replace(/^sha256:/, ''))
          const { bytes } = await (isId || reference.includes('@') ? store.remove(image.id) : store.untag(reference))
          const { sizeText } = await import('./size-text.ts')
          process.stdout.write(`removed ${reference}, ${sizeText(bytes)} are free\n`)
        }
      })
    })
}
