/** `t8s config import`: takes a context from another kubeconfig in, of this machine or of another one. */
import { Command, Option } from 'commander'
import { repeated } from '../../../flags/repeated.ts'
import { type FileFlags, givenName, kubeconfigOption, locations, nameOption, print, quoted } from '../options.ts'
import type { SourceFlags } from './source.ts'

export interface ImportFlags extends FileFlags, SourceFlags {
  readonly name?: string
  readonly context?: string
  readonly as?: string
  readonly force?: boolean
  readonly embed?: boolean
  readonly keepServer?: boolean
  readonly changeServer?: boolean
}

const examples = `
Examples:
  t8s config import -n dev -l ~/Downloads/kubeconfig.yaml
  t8s config import dev --from=ssh://root@10.0.0.7:/etc/kubernetes/admin.conf
  t8s config import dev --from=ssh://admin@gate:2222/~/.kube/config -i ~/.ssh/id_ed25519
  t8s config import dev --from=ssh://root@node/etc/rancher/k3s/k3s.yaml -J gate
  t8s config import --from=local            what k3s, kubeadm or kind left on this machine
  ssh host cat kubeconfig | t8s config import dev -

Over SSH, a password of -p or --password-fd is the only way that is tried; without one: the agent, keys (~/.ssh/id_rsa and the other
usual ones, or those of -i), then a password that is asked for. Lists of processes show the one of -p to everybody on this machine.
Hosts, users, ports, keys and machines on the way come from ~/.ssh/config, too; ~/.ssh/known_hosts says which hosts are trusted.`

export function importCommand(): Command {
  return new Command('import')
    .argument('[NAME]', 'what the context is called here (default: as it is called there)')
    .argument('[-]', 'read standard input')
    .description('take a context of another kubeconfig in: a file, one of another machine over SSH, or standard input')
    .addOption(nameOption())
    .addOption(new Option('-l, --file <FILE>', 'a kubeconfig of this machine; - for standard input').conflicts('from'))
    .addOption(
      new Option('--from <WHERE>', 'ssh://[USER@]HOST[:PORT]/PATH, local for the usual places of this machine, or -'),
    )
    .addOption(
      new Option(
        '--context <NAME>',
        'which of its contexts (default: the one called NAME, the current one, or the only one)',
      ),
    )
    .addOption(new Option('--as <NAME>', 'call it otherwise, where the name is taken'))
    .addOption(new Option('--force', 'replace a context of that name'))
    .addOption(new Option('--embed', 'put certificates, keys and tokens in, in the place of the names of their files'))
    .addOption(
      new Option('--keep-server', 'leave a server at 127.0.0.1 as it is, without asking').conflicts('changeServer'),
    )
    .addOption(new Option('--change-server', 'have a server at 127.0.0.1 be the host of --from, without asking'))
    .addOption(new Option('-p, --password <PASSWORD>', 'log in by this password').conflicts('passwordFd'))
    .addOption(new Option('--password-fd <N>', 'log in by the password that file descriptor N gives'))
    .addOption(new Option('-i, --identity <FILE>', 'log in by this key; repeatable').argParser(repeated))
    .addOption(new Option('-J, --jump <HOSTS>', 'machines on the way: [USER@]HOST[:PORT], with commas'))
    .addOption(new Option('-F, --ssh-config <FILE>', "read this in the place of ~/.ssh/config and the machine's"))
    .addOption(kubeconfigOption())
    .addHelpText('after', examples)
    .action(importContext)
}

async function importContext(first: string | undefined, second: string | undefined, flags: ImportFlags): Promise<void> {
  const where = await locations(flags)
  const [{ importInput, sourceOf }, { openTerminal }] = await Promise.all([
    import('./source.ts'),
    import('../../../terminal/terminal.ts'),
  ])
  const { name: argument, source: input } = importInput(first, second, flags)
  const terminal = openTerminal()
  try {
    const [
      { ConfigDocument },
      { chosenContext, notImportable, selfContained },
      { changeKubeconfigs },
      { addContext },
      { settledServer },
    ] = await Promise.all([
      import('../../../../kubeconfig/documents/config-document.ts'),
      import('../../../../kubeconfig/import/incoming.ts'),
      import('../../../../kubeconfig/files/change.ts'),
      import('../../../../kubeconfig/contexts/add-context.ts'),
      import('./server.ts'),
    ])
    const given = givenName(argument, flags)
    const { source, contexts } = await sourceOf(input, flags, where.files, terminal)
    try {
      const document = new ConfigDocument(source.text, notImportable(source.name))
      const wanted =
        flags.context ?? (given !== undefined && document.has('context', given) ? given : await contexts(document))
      const chosen = chosenContext(document, source.name, wanted)
      const name = flags.as ?? given ?? chosen.name
      // Files of another machine are nothing here.
      const whole = await selfContained(chosen, source, flags.embed === true || source.remoteHost !== undefined)
      const incoming = await settledServer(whole, source.remoteHost, flags, terminal)
      const how = await changeKubeconfigs(where, `import ${name}`, (config) =>
        addContext(config, incoming, { name, force: flags.force === true }),
      )
      if (how === 'there already') print(`${quoted(name)} is there already, as it comes from ${source.name}`)
      else
        print(
          `${quoted(name)} was ${how} from ${source.name}; use it: t8s config use ` +
            `${/^[\w./@:+-]+$/.test(name) ? name : quoted(name)}`,
        )
    } finally {
      source.close()
    }
  } finally {
    terminal?.close()
  }
}
