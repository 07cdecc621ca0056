/** `t8s token`: bootstrap tokens, with which other machines join a cluster. */
import { Argument, Command, Option } from 'commander'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { clusterEnvironment } from '../../../kubeconfig/find-cluster.ts'
import { type ContextFlags, contextFlags } from '../../flags/context-flags.ts'
import * as flags from '../../flags/flags.ts'

const examples = `
Examples:
  t8s token create                          a token for one day
  t8s token create --print-join-command     the command that makes another machine a node
  t8s token create --ttl 2h --description 'rack 4'
  t8s token list
  t8s token delete abcdef

Tokens are Secrets in kube-system, as kubeadm's. t8s join uses them once: nodes have certificates afterwards.`

interface CreateFlags extends ContextFlags {
  readonly ttl: number
  readonly description?: string
  readonly usages: string
  readonly groups: string
  readonly printJoinCommand?: boolean
}

interface ListFlags extends ContextFlags {
  readonly output: 'text' | 'json'
}

export function tokenCommand(): Command {
  const token = new Command('token')
    .description('manage the tokens with which other machines join')
    .addHelpText('after', examples)
  const create = token
    .command('create')
    .addArgument(new Argument('[TOKEN]', 'the token (default: a random one)'))
    .description('create a token, and print it')
    .addHelpText('after', examples)
    .action((text: string | undefined, given: CreateFlags) => withCluster(given, (to) => add(to, text, given)))
  for (const flag of createFlags()) create.addOption(flag)
  const list = token
    .command('list')
    .alias('ls')
    .description('list the tokens')
    .addOption(new Option('-o, --output <FORMAT>', 'format').choices(['text', 'json']).default('text'))
    .action((given: ListFlags) => withCluster(given, (to) => show(to, given.output)))
  const remove = token
    .command('delete')
    .alias('rm')
    .addArgument(new Argument('<TOKEN...>', 'tokens, or their ids: the six characters before the dot'))
    .description('delete tokens')
    .action((texts: readonly string[], given: ContextFlags) => withCluster(given, (to) => removeTokens(to, texts)))
  token.command('generate').description('print a random token, and create nothing').action(generate)
  for (const command of [create, list, remove]) for (const flag of contextFlags()) command.addOption(flag)
  return token
}

const createFlags = (): readonly Option[] => [
  new Option('--ttl <DURATION>', 'time until the token is deleted; 0 for never')
    .argParser(flags.durationMs)
    .default(24 * 3_600_000, '24h'),
  new Option('--description <TEXT>', 'what the token is for'),
  new Option('--usages <LIST>', 'what the token can be used for').default('signing,authentication'),
  new Option('--groups <LIST>', 'groups of the user of the token').default(
    'system:bootstrappers:kubeadm:default-node-token',
  ),
  new Option('--print-join-command', 'print the command for the other machine in place of the token'),
]

async function withCluster(given: ContextFlags, run: (client: RestClient) => Promise<void>): Promise<void> {
  const { connectTo } = await import('../../../client/index.ts')
  const client = await connectTo({ ...given, environment: await clusterEnvironment(given), userAgent: 't8s' })
  try {
    await run(client)
  } finally {
    client.close()
  }
}

async function add(client: RestClient, text: string | undefined, given: CreateFlags): Promise<void> {
  const [{ newToken, parseToken, tokenText }, { createToken }, { randomBytes }] = await Promise.all([
    import('../../../cluster/joining/tokens/token-form.ts'),
    import('../../../cluster/joining/tokens/stored-tokens.ts'),
    import('node:crypto'),
  ])
  const { joinCommand, readPlace } = await import('../../../cluster/joining/join-command.ts')
  const place = given.printJoinCommand ? await readPlace(client) : undefined
  const token = text === undefined ? newToken(randomBytes) : parseToken(text)
  await createToken(client, {
    token,
    description: given.description,
    expires: given.ttl === 0 ? undefined : new Date(Date.now() + given.ttl),
    usages: listOf(given.usages),
    groups: listOf(given.groups),
  })
  print(place ? joinCommand(place, token) : tokenText(token))
}

const listOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

async function show(client: RestClient, output: ListFlags['output']): Promise<void> {
  const [{ listTokens }, { tokenRows, tokenObject }, { table }] = await Promise.all([
    import('../../../cluster/joining/tokens/stored-tokens.ts'),
    import('../../../cluster/joining/tokens/token-rows.ts'),
    import('../../terminal/table.ts'),
  ])
  const tokens = await listTokens(client)
  if (output === 'json') for (const token of tokens) print(JSON.stringify(tokenObject(token), undefined, 4))
  else if (tokens.length > 0)
    print(...table(['TOKEN', 'TTL', 'EXPIRES', 'USAGES', 'DESCRIPTION', 'EXTRA GROUPS'], tokenRows(tokens, Date.now())))
  else print('There are no tokens: t8s token create makes one.')
}

async function removeTokens(client: RestClient, texts: readonly string[]): Promise<void> {
  const [{ tokenIdOf }, { deleteToken }] = await Promise.all([
    import('../../../cluster/joining/tokens/token-form.ts'),
    import('../../../cluster/joining/tokens/stored-tokens.ts'),
  ])
  for (const id of texts.map(tokenIdOf)) {
    await deleteToken(client, id)
    print(`bootstrap token ${JSON.stringify(id)} deleted`)
  }
}

async function generate(): Promise<void> {
  const [{ newToken, tokenText }, { randomBytes }] = await Promise.all([
    import('../../../cluster/joining/tokens/token-form.ts'),
    import('node:crypto'),
  ])
  print(tokenText(newToken(randomBytes)))
}

const print = (...lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${line}\n`).join(''))
