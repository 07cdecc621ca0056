/** `t8s image export`: writes images to an archive. */
import { Command } from 'commander'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { imageRootOption, type StoreFlags, withStore } from './store-option.ts'

interface ExportFlags extends StoreFlags {
  readonly output?: string
}

export function exportCommand(): Command {
  return new Command('export')
    .argument('<IMAGE...>', 'names, or IDs')
    .description('write images to an archive, which docker load, ctr images import and t8s image import read')
    .option('-o, --output <FILE>', 'the file to write (default: the standard output)')
    .addOption(imageRootOption())
    .action(async (references: readonly string[], { output, ...flags }: ExportFlags) => {
      if (output === undefined && process.stdout.isTTY)
        throw new ExplainedError('an archive is not for a terminal: name a file with -o FILE')
      const { exportArchive } = await import('../../../runtime/images/index.ts')
      await withStore(flags, async (store) => {
        for (const reference of references) store.get(reference)
        if (output === undefined) await exportArchive(store, references, process.stdout)
        else await writeFile(output, (file) => exportArchive(store, references, file))
      })
    })
}

/** The file gets its name when it is complete. */
async function writeFile(path: string, write: (file: import('node:fs').WriteStream) => Promise<void>): Promise<void> {
  const { createWriteStream, renameSync, rmSync } = await import('node:fs')
  const unfinished = `${path}.unfinished`
  const file = createWriteStream(unfinished)
  try {
    const { finished } = await import('node:stream/promises')
    const done = finished(file)
    await Promise.race([write(file).then(() => file.end()), done])
    await done
    renameSync(unfinished, path)
  } catch (error) {
    file.destroy()
    rmSync(unfinished, { force: true })
    throw error
  }
}
