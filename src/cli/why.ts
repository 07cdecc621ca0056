/** `t8s why can-i`: says which bindings allow a user something, or which come near and what they lack. Works against any Kubernetes. */
import { Command, Option } from 'commander'

interface WhyFlags {
  readonly namespace?: string
  readonly allNamespaces?: boolean
  readonly asGroup?: readonly string[]
  readonly subresource?: string
  readonly name?: string
  readonly kubeconfig?: string
  readonly context?: string
}

const examples = `
Examples:
  t8s why can-i jane list pods                                 in the namespace of the context
  t8s why can-i jane delete deployments.apps -n shop --as-group developers
  t8s why can-i jane get pods/log -n shop
  t8s why can-i jane get secrets -n shop --name tls
  t8s why can-i jane list nodes
  t8s why can-i jane list pods -A                              in all of the cluster
  t8s why can-i system:serviceaccount:shop:robot create pods -n shop
  t8s why can-i jane get /metrics                              a path that is no resource

It reads roles and bindings, so it needs the administrator's kubeconfig: --kubeconfig, else KUBECONFIG, else ~/.kube/config.
It exits with 0 for yes and 1 for no.`

const repeated = (value: string, previous: readonly string[] = []): string[] => [...previous, value]

export function whyCommand(): Command {
  const why = new Command('why').description('explain what RBAC decides, and by which bindings')
  why
    .command('can-i')
    .argument('<USER>', 'a user, or a service account as system:serviceaccount:NAMESPACE:NAME')
    .argument('<VERB>', 'get, list, watch, create, update, patch, delete, …')
    .argument('<RESOURCE>', 'a resource as kubectl knows it (pods, deploy, deployments.apps, pods/log), or a path (/metrics)')
    .description('say why a user may do something, or what is missing')
    .addOption(new Option('-n, --namespace <NAME>', 'the namespace (default: that of the context)'))
    .addOption(new Option('-A, --all-namespaces', 'in all of the cluster').conflicts('namespace'))
    .addOption(new Option('--as-group <GROUP>', 'a group of the user; repeatable').argParser(repeated))
    .addOption(new Option('--subresource <NAME>', 'log, exec, scale, status, …'))
    .addOption(new Option('--name <NAME>', 'one object'))
    .addOption(new Option('--kubeconfig <FILE>', "the administrator's kubeconfig"))
    .addOption(new Option('--context <NAME>', 'a context of it (default: the current one)'))
    .addHelpText('after', examples)
    .action(async (user: string, verb: string, resource: string, flags: WhyFlags) => {
      process.exitCode = (await canI(user, verb, resource, flags)) ? 0 : 1
    })
  return why
}

async function canI(user: string, verb: string, resource: string, flags: WhyFlags): Promise<boolean> {
  const [{ kubeconfigFiles, readContext }, { WhyServer }, { question, userOf }, { explain }, { answerText }] = await Promise.all([
    import('../kubeconfig/read-context.ts'),
    import('./why-server.ts'),
    import('./why-question.ts'),
    import('../apiserver/authorization/rbac/explain.ts'),
    import('./why-text.ts'),
  ])
  const connection = await readContext(kubeconfigFiles(process.env, flags.kubeconfig), flags.context)
  const server = new WhyServer(connection)
  try {
    const { asked, notes } = await question(server, connection.namespace, { verb, resource, ...flags })
    const who = userOf(user, flags.asGroup ?? [])
    const [roles, verdict] = await Promise.all([server.roles(), server.verdict(who.name, who.groups, asked)])
    const text = answerText({ user: who, asked, verdict, explanation: explain(roles, who, asked), notes })
    process.stdout.write(text)
    return verdict.allowed
  } finally {
    server.close()
  }
}
