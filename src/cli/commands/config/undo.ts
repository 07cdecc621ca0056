/** `t8s config undo`: takes the last change back. */
import { Command, Option } from 'commander'
import { type FileFlags, kubeconfigOption, locations, print } from './options.ts'

interface UndoFlags extends FileFlags {
  readonly force?: boolean
}

export function undoCommand(): Command {
  return new Command('undo')
    .description('take the last change of t8s config back; once more does it again')
    .addOption(new Option('--force', 'also if other programs have changed the file since, whose changes are lost then'))
    .addOption(kubeconfigOption())
    .action(undo)
}

async function undo({ force, ...flags }: UndoFlags): Promise<void> {
  const { undoLastChange } = await import('../../../kubeconfig/files/change.ts')
  const { what, again, files } = await undoLastChange(await locations(flags), { force })
  const where = files.join(' and ')
  print(again ? `done again: ${what} (${where})` : `undone: ${what} (${where}); t8s config undo does it again`)
}
