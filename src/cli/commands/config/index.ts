/** `t8s config`: manages kubeconfigs. Each command is a file and loads its modules when it runs. */
import { Command } from 'commander'
import { checkCommand } from './check/index.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import/index.ts'
import { listCommand } from './list.ts'
import { mergeCommand } from './merge.ts'
import { removeCommand } from './remove.ts'
import { renameCommand } from './rename.ts'
import { showCommand } from './show.ts'
import { undoCommand } from './undo.ts'
import { useCommand } from './use.ts'

const examples = `
Examples:
  t8s config list
  t8s config use                                            choose from a list
  t8s config import dev --from=ssh://root@10.0.0.7:/etc/kubernetes/admin.conf
  t8s config check dev                                      does the server respond, and which user am I?
  t8s config undo                                           undo the last change

The kubeconfigs are those of $KUBECONFIG, else ~/.kube/config. Changes go to the file that kubectl would change;
comments and unknown fields are kept.`

export function configCommand(): Command {
  const config = new Command('config')
    .description('manage kubeconfigs: list, use, rename, remove, import, export and check contexts')
    .addHelpText('after', examples)
  for (const command of [
    listCommand(),
    useCommand(),
    renameCommand(),
    removeCommand(),
    showCommand(),
    checkCommand(),
    importCommand(),
    mergeCommand(),
    exportCommand(),
    undoCommand(),
  ]) {
    config.addCommand(command)
  }
  return config
}
