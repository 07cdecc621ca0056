import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admissionPluginErrors, apiServerFlags, apiServerHelp, FlagError, idleFlagLines } from './index.ts'

const refused = (...args: readonly string[]): string => {
  try {
    apiServerFlags(args)
  } catch (error) {
    assert.ok(error instanceof FlagError)
    return error.message
  }
  return assert.fail(`${args.join(' ')} was taken`)
}

test('a value follows after = or as the next argument; booleans need none', () => {
  const flags = apiServerFlags(['--secure-port=1', '--bind-address', '::1', '--anonymous-auth', '-v2', '--profiling=F'])
  assert.deepEqual(
    [flags.int('secure-port'), flags.text('bind-address'), flags.bool('anonymous-auth'), flags.int('v')],
    [1, '::1', true, 2],
  )
  assert.equal(flags.bool('profiling'), false)
  assert.equal(flags.int('max-requests-inflight'), undefined)
  for (const level of [['-v', '4'], ['-v=4'], ['--v=4'], ['--v', '4']]) assert.equal(apiServerFlags(level).int('v'), 4)
})

test('underscores equal dashes in names, and the last of several values wins', () => {
  assert.equal(apiServerFlags(['--secure_port=1', '--secure-port=2']).int('secure-port'), 2)
})

test('lists and maps may be one value or several', () => {
  const flags = apiServerFlags([
    '--disable-admission-plugins=A,B',
    '--disable-admission-plugins=C',
    '--service-account-key-file=a,b',
    '--service-account-key-file=c',
  ])
  assert.deepEqual(flags.list('disable-admission-plugins'), ['A', 'B', 'C'])
  // A stringArray is not split.
  assert.deepEqual(flags.list('service-account-key-file'), ['a,b', 'c'])
  const config = apiServerFlags([
    '--runtime-config=api/beta=true,batch/v1=false',
    '--runtime-config=batch/v1,apps/v1=',
  ]).map('runtime-config')
  assert.deepEqual(
    [...config!],
    [
      ['api/beta', 'true'],
      ['batch/v1', ''],
      ['apps/v1', ''],
    ],
  )
  assert.deepEqual(apiServerFlags(['--oidc-signing-algs="a,b",c']).list('oidc-signing-algs'), ['a,b', 'c'])
})

test('durations have the syntax of Go', () => {
  const ms = (text: string) => apiServerFlags([`--request-timeout=${text}`]).durationMs('request-timeout')
  assert.deepEqual(['1m30s', '1.5h', '0', '300ms', '-2s'].map(ms), [90_000, 5_400_000, 0, 300, -2000])
})

test('errors are those of pflag', () => {
  const invalid = (value: string, flag: string, why: string) =>
    `invalid argument ${JSON.stringify(value)} for "${flag}" flag: ${why}`
  const table: readonly (readonly [args: readonly string[], words: string])[] = [
    [['--x'], 'unknown flag: --x'],
    [['--insecure-port=0'], 'unknown flag: --insecure-port: Kubernetes 1.24 removed it'],
    [['--logtostderr'], 'unknown flag: --logtostderr: Kubernetes 1.26 removed it'],
    [['-x'], "unknown shorthand flag: 'x' in -x"],
    [['--secure-port'], 'flag needs an argument: --secure-port'],
    [['-v'], "flag needs an argument: 'v' in -v"],
    [['--=x'], 'bad flag syntax: --=x'],
    [['word', 'other'], '"kube-apiserver" does not take any arguments, got ["word" "other"]'],
    [['--', '--v=1'], '"kube-apiserver" does not take any arguments, got ["--v=1"]'],
    [['--secure-port=x'], invalid('x', '--secure-port', 'strconv.ParseInt: parsing "x": invalid syntax')],
    [['--secure-port='], invalid('', '--secure-port', 'strconv.ParseInt: parsing "": invalid syntax')],
    [
      ['--secure-port=9223372036854775808'],
      invalid(
        '9223372036854775808',
        '--secure-port',
        'strconv.ParseInt: parsing "9223372036854775808": value out of range',
      ),
    ],
    [['--v=x'], invalid('x', '-v, --v', 'strconv.ParseInt: parsing "x": invalid syntax')],
    [['--profiling=maybe'], invalid('maybe', '--profiling', 'strconv.ParseBool: parsing "maybe": invalid syntax')],
    [['--goaway-chance=x'], invalid('x', '--goaway-chance', 'strconv.ParseFloat: parsing "x": invalid syntax')],
    [['--bind-address=localhost'], invalid('localhost', '--bind-address', 'failed to parse IP: "localhost"')],
    [['--request-timeout=x'], invalid('x', '--request-timeout', 'time: invalid duration "x"')],
    [['--request-timeout=5'], invalid('5', '--request-timeout', 'time: missing unit in duration "5"')],
    [['--request-timeout=5y'], invalid('5y', '--request-timeout', 'time: unknown unit "y" in duration "5y"')],
    [['--oidc-required-claim=x'], invalid('x', '--oidc-required-claim', 'malformed pair, expect string=string')],
    [['--feature-gates=A'], 'missing bool value for A'],
    [['--feature-gates=A=x'], 'invalid value of A=x, err: strconv.ParseBool: parsing "x": invalid syntax'],
    [['--feature-gates=Nonsense=true'], 'unrecognized feature gate: Nonsense'],
    [
      ['--service-node-port-range=1-x'],
      invalid('1-x', '--service-node-port-range', 'strconv.Atoi: parsing "x": invalid syntax'),
    ],
    [
      ['--service-node-port-range=9-1'],
      invalid('9-1', '--service-node-port-range', 'end port cannot be less than start port: 9-1'),
    ],
    [
      ['--service-node-port-range=1-70000'],
      invalid('1-70000', '--service-node-port-range', 'the port range cannot be greater than 65535: 1-70000'),
    ],
  ]
  for (const [args, words] of table) assert.equal(refused(...args), words)
})

test('every flag is listed once, and the help shows it under its topic', () => {
  const help = apiServerHelp('kube-apiserver')
  const names = [...help.matchAll(/^ {2}(?: {4}|-\w, )--([a-z0-9-]+)/gm)].map(([, name]) => name)
  assert.equal(new Set(names).size, names.length)
  assert.ok(names.length > 160)
  assert.deepEqual(
    [...help.matchAll(/^(\S.*) flags:$/gm)].map(([, topic]) => topic),
    [
      'Generic',
      'Etcd',
      'Secure serving',
      'Auditing',
      'Features',
      'Authentication',
      'Authorization',
      'API enablement',
      'Egress selector',
      'Admission',
      'Metrics',
      'Logs',
      'Traces',
      'Misc',
      "Typernetes'",
      'Global',
    ],
  )
  assert.match(help, /^ {6}--secure-port int +The port to listen on; 0 for any free one\. \(default 6443\)$/m)
})

test('each flag without effect gives a warning line', () => {
  assert.deepEqual(idleFlagLines(apiServerFlags(['--coordinated-leadership-lease-duration=9s', '--secure-port=1'])), [
    '--coordinated-leadership-lease-duration changes nothing here: no leases are coordinated',
  ])
})

test('names of admission plug-ins are validated', () => {
  assert.deepEqual(admissionPluginErrors(['Priority'], ['ServiceAccount']), [])
  assert.deepEqual(admissionPluginErrors(['Nonsense', 'Priority'], ['Priority', 'Other']), [
    'enable-admission-plugins plugin "Nonsense" is unknown',
    'disable-admission-plugins plugin "Other" is unknown',
    '[Priority] in enable-admission-plugins and disable-admission-plugins overlapped',
  ])
})
