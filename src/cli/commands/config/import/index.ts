/** `t8s config import`: imports a context from another kubeconfig, of this machine or of another one. */
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
  t8s config import --from=local            kubeconfigs of k3s, kubeadm or kind on this machine
  ssh host cat kubeconfig | t8s config import dev -

Over SSH, if -p or --password-fd gives a password, only that is tried. Otherwise the agent, then keys (those of -i, or
~/.ssh/id_rsa and the other defaults), then a password prompt. Process lists show the password of -p to all users of
this machine. ~/.ssh/config can set hosts, users, ports, keys and jump hosts; ~/.ssh/known_hosts lists trusted hosts.`

export function importCommand(): Command {
  return new Command('import')
    .argument('[NAME]', 'the name of the context here (default: its name there)')
    .argument('[-]', 'read standard input')
    .description('import a context from a kubeconfig: a file, one of another machine over SSH, or standard input')
    .addOption(nameOption())
    .addOption(new Option('-l, --file <FILE>', 'a kubeconfig on this machine; - for standard input').conflicts('from'))
    .addOption(
      new Option('--from <WHERE>', 'ssh://[USER@]HOST[:PORT]/PATH, local for the default paths on this machine, or -'),
    )
    .addOption(
      new Option('--context <NAME>', 'the context to import (default: NAME, else the current one, else the only one)'),
    )
    .addOption(new Option('--as <NAME>', 'another name for it, if the name is taken'))
    .addOption(new Option('--force', 'replace an existing context with that name'))
    .addOption(new Option('--embed', 'embed certificates, keys and tokens in place of file names'))
    .addOption(new Option('--keep-server', 'keep a server at 127.0.0.1, without a prompt').conflicts('changeServer'))
    .addOption(new Option('--change-server', 'replace a server at 127.0.0.1 with the host of --from, without a prompt'))
    .addOption(new Option('-p, --password <PASSWORD>', 'log in with this password').conflicts('passwordFd'))
    .addOption(new Option('--password-fd <N>', 'log in with the password from file descriptor N'))
    .addOption(new Option('-i, --identity <FILE>', 'log in with this key; repeatable').argParser(repeated))
    .addOption(new Option('-J, --jump <HOSTS>', 'jump hosts: [USER@]HOST[:PORT], comma-separated'))
    .addOption(
      new Option('-F, --ssh-config <FILE>', 'the SSH configuration (default: ~/.ssh/config and that of the system)'),
    )
    .addOption(kubeconfigOption())
    .addHelpText('after', examples)
    .action(importContext)
}

async function importContext(first: string | undefined, second: string | undefined, flags: ImportFlags): Promise<void> {
  const target = await locations(flags)
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
      { resolvedServer },
    ] = await Promise.all([
      import('../../../../tools/config/documents/config-document.ts'),
      import('../../../../tools/config/import/incoming.ts'),
      import('../../../../tools/config/files/change.ts'),
      import('../../../../tools/config/contexts/add-context.ts'),
      import('./server.ts'),
    ])
    const given = givenName(argument, flags)
    const { source, contexts } = await sourceOf(input, flags, target.files, terminal)
    try {
      const document = new ConfigDocument(source.text, notImportable(source.name))
      const wanted =
        flags.context ?? (given !== undefined && document.has('context', given) ? given : await contexts(document))
      const chosen = chosenContext(document, source.name, wanted)
      const name = flags.as ?? given ?? chosen.name
      // Paths on another machine are of no use here.
      const whole = await selfContained(chosen, source, flags.embed === true || source.remoteHost !== undefined)
      const incoming = await resolvedServer(whole, source.remoteHost, flags, terminal)
      const how = await changeKubeconfigs(target, `import ${name}`, (config) =>
        addContext(config, incoming, { name, force: flags.force === true }),
      )
      if (how === 'unchanged') print(`${quoted(name)} exists already and is the same as in ${source.name}`)
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
