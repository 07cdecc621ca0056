/** `t8s config undo`: undoes the last change. */
import { Command, Option } from 'commander'
import { type FileFlags, kubeconfigOption, locations, print } from './options.ts'

interface UndoFlags extends FileFlags {
  readonly force?: boolean
}

export function undoCommand(): Command {
  return new Command('undo')
    .description('undo the last change of t8s config; a second undo redoes it')
    .addOption(new Option('--force', 'even if other programs have changed the file since; their changes are lost'))
    .addOption(kubeconfigOption())
    .action(undo)
}

async function undo({ force, ...flags }: UndoFlags): Promise<void> {
  const { undoLastChange } = await import('../../../tools/config/files/change.ts')
  const { what, isRedo, files } = await undoLastChange(await locations(flags), { force })
  const where = files.join(' and ')
  print(isRedo ? `redone: ${what} (${where})` : `undone: ${what} (${where}); t8s config undo redoes it`)
}
