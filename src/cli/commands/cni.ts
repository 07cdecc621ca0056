/** `t8s cni`: the pod network as a CNI plug-in, for containerd, CRI-O and other runtimes. */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { Command } from 'commander'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { shellWord } from '../../lib/shell-word.ts'

const examples = `
A runtime runs this command with CNI_COMMAND and the other variables of the CNI specification 1.1, and the
configuration on standard input. It needs root; masquerade and host ports need nft.

Examples:
  sudo t8s cni install                  installs the plug-in as /opt/cni/bin/t8s, and as flannel
  sudo t8s cni install --bin-dir /usr/lib/cni

A configuration for /etc/cni/net.d/10-pods.conflist:
  {
    "cniVersion": "1.0.0",
    "name": "pods",
    "plugins": [{
      "type": "t8s", "bridge": "cni0", "ipMasq": true, "hairpinMode": true,
      "capabilities": { "portMappings": true },
      "ipam": { "ranges": [[{ "subnet": "10.88.0.0/16" }]], "routes": [{ "dst": "0.0.0.0/0" }] }
    }]
  }`

export function cniCommand(): Command {
  const command = new Command('cni')
    .description('connect pods to a bridge: a CNI plug-in')
    .addHelpText('after', examples)
    .action(() => run(command))
  command
    .command('install')
    .description('install the plug-in for container runtimes')
    .option('--bin-dir <DIRECTORY>', "the directory of the runtime's plug-ins", '/opt/cni/bin')
    .action(({ binDir }: { readonly binDir: string }) => install(binDir))
  return command
}

async function run(command: Command): Promise<void> {
  if (process.env.CNI_COMMAND === undefined) return command.help()
  const [{ runPlugin }, { systemCalls }] = await Promise.all([
    import('../../network/cni/plugin/run-plugin.ts'),
    import('../../lib/linux/system-calls.ts'),
  ])
  const { exitCode, output } = await runPlugin(systemCalls, process.env, await text(process.stdin))
  if (output) process.stdout.write(`${JSON.stringify(output)}\n`)
  process.exitCode = exitCode
}

async function install(directory: string): Promise<void> {
  const folder = resolve(directory)
  const program = [process.execPath, process.argv[1]!].map(shellWord).join(' ')
  // containerd before 2.0 calls the plug-in loopback, too. Programs of others that are installed stay.
  const files = [join(folder, 't8s')]
  for (const name of ['flannel', 'loopback']) {
    const file = join(folder, name)
    if (await isForeign(file)) process.stdout.write(`${file} is installed already, and stays\n`)
    else files.push(file)
  }
  await mkdir(folder, { recursive: true }).catch(explain(folder))
  for (const file of files) {
    const written = writeFile(file, `#!/bin/sh\nexec ${program} cni\n`).then(() => chmod(file, 0o755))
    await written.catch(explain(file))
    process.stdout.write(`installed ${file}\n`)
  }
}

/** True for a file that this command has not written. */
const isForeign = (file: string): Promise<boolean> =>
  readFile(file, 'utf8').then(
    (content) => !/^#!\/bin\/sh\nexec .* cni\n$/.test(content),
    () => false,
  )

const explain =
  (file: string) =>
  (error: unknown): never => {
    throw new ExplainedError(`${file} cannot be written: ${reasonOf(error)}; use sudo, or another --bin-dir`)
  }
