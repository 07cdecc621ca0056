/** `t8s image`: the images of the embedded runtime. Each command loads its modules when it runs. */
import { Command } from 'commander'
import { buildCommand } from './build.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { listCommand } from './list.ts'
import { pullCommand } from './pull.ts'
import { pushCommand } from './push.ts'
import { removeCommand } from './remove.ts'
import { serveCommand } from './serve.ts'

const examples = `
Examples:
  t8s image build -t app:1 .                    from the Dockerfile of this folder
  t8s image pull busybox
  t8s image push app:1 registry.example/team/app:1
  t8s image list
  t8s image export busybox -o busybox.tar       docker load and ctr images import read it, too
  t8s image import busybox.tar                  from docker save, or an archive of the OCI image layout
  t8s image serve --port 5000                   a registry with these images, for other machines and for pushes

Pulls and pushes use the logins of docker login.`

export function imageCommand(): Command {
  const image = new Command('image')
    .description('build, pull, push, list, remove, import, export and serve container images')
    .addHelpText('after', examples)
  for (const command of [
    buildCommand(),
    pullCommand(),
    pushCommand(),
    listCommand(),
    removeCommand(),
    importCommand(),
    exportCommand(),
    serveCommand(),
  ])
    image.addCommand(command)
  return image
}
