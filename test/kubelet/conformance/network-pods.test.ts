/** Tests of the conformance suite for connections of pods (`test/e2e/common/network/networking.go`), on one node. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Pod } from '../../../src/client/kinds.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { busyboxLayer, programLayer, writeImage } from '../support/oci-image.ts'
import { runIn } from '../support/pod-requests.ts'
import { shell, TestNode } from '../support/test-node.ts'

/** busybox and Perl, since Debian's busybox has no server for UDP. */
const image = 'registry.test/netserver:1'
const httpPort = 8083
const udpPort = 8081

/** Answers each datagram with the host's name. `Sna4x8` is a `sockaddr_in`; 2 is AF_INET, 1 a stream, 2 datagrams. */
const udpServer = `
  chomp(my $name = \`hostname\`);
  socket(my $s, 2, 2, 0) or die $!;
  bind($s, pack("Sna4x8", 2, ${udpPort}, "\\0\\0\\0\\0")) or die $!;
  while (1) { my $from = recv($s, my $query, 64, 0); send($s, $name, 0, $from) if defined $from }`

/** Clients print the answer of a server, whose address is their argument. */
const httpClient = `
  socket(my $s, 2, 1, 0) or die $!;
  connect($s, pack("Sna4x8", 2, ${httpPort}, pack("C4", split(/\\./, $ARGV[0])))) or die $!;
  send($s, "GET /hostName HTTP/1.0\\r\\n\\r\\n", 0) or die $!;
  local $/;
  print +(split(/\\r\\n\\r\\n/, <$s>, 2))[1]`

const udpClient = `
  socket(my $s, 2, 2, 0) or die $!;
  my $to = pack("Sna4x8", 2, ${udpPort}, pack("C4", split(/\\./, $ARGV[0])));
  for (1 .. 5) {
    send($s, "hostName", 0, $to) or die $!;
    vec(my $ready = "", fileno($s), 1) = 1;
    if (select($ready, undef, undef, 5)) { recv($s, my $answer, 64, 0); print $answer; exit }
  }
  die "no answer"`

const clientPrograms = { http: httpClient, udp: udpClient } as const

const cases = [
  { title: 'Networking, intra pod http', protocol: 'http', from: 'pod' },
  { title: 'Networking, intra pod udp', protocol: 'udp', from: 'pod' },
  {
    title: 'Networking Granular Checks: Pods should function for node-pod communication: http',
    protocol: 'http',
    from: 'node',
  },
  {
    title: 'Networking Granular Checks: Pods should function for node-pod communication: udp',
    protocol: 'udp',
    from: 'node',
  },
] as const

const probe = { httpGet: { path: '/healthz', port: httpPort }, periodSeconds: 10, timeoutSeconds: 30 }

const server = shell(
  'webserver',
  `mkdir /www; hostname > /www/hostName; touch /www/healthz; httpd -p ${httpPort} -h /www; exec perl -e '${udpServer}'`,
  {
    image,
    livenessProbe: { ...probe, initialDelaySeconds: 10 },
    readinessProbe: probe,
    ports: [
      { name: 'http', containerPort: httpPort },
      { name: 'udp', containerPort: udpPort, protocol: 'UDP' },
    ],
  },
)

interface Network {
  readonly node: TestNode
  readonly servers: readonly Pod[]
  /** The pods that connect to them: one of the pod network, and one of the host's. */
  readonly clients: Readonly<Record<'pod' | 'node', Pod>>
}

await inNamespaces(import.meta.filename, () =>
  describe('connections of pods', { concurrency: true }, async () => {
    const started = start()
    for (const { title, protocol, from } of cases)
      test(title, async () => {
        const { node, servers, clients } = await started
        for (const { metadata, status } of servers) {
          const answer = await runIn(node, clients[from], ['perl', '-e', clientPrograms[protocol], status?.podIP ?? ''])
          assert.equal(answer.trim(), metadata.name)
        }
      })
  }),
)

async function start(): Promise<Network> {
  const node = await TestNode.start()
  await importImage(node)
  const created = await Promise.all([1, 2].map((n) => node.create({ name: `netserver-${n}`, containers: [server] })))
  const clients = await Promise.all(
    [
      { name: 'test-container-pod', hostNetwork: false },
      { name: 'host-test-container-pod', hostNetwork: true },
    ].map((pod) => node.create({ ...pod, containers: [shell('main', 'sleep 1d', { image })] })),
  )
  const servers = await Promise.all(
    created.map((pod) => node.until(pod, 'is ready', ({ status }) => status?.containerStatuses?.[0]?.ready === true)),
  )
  const [pod, ofHost] = await Promise.all(clients.map((one) => node.running(one)))
  assert.equal(ofHost!.status?.podIP, ofHost!.status?.hostIP)
  assert.equal(new Set([pod!, ...servers].map(({ status }) => status?.podIP)).size, 3)
  return { node, servers, clients: { pod: pod!, node: ofHost! } }
}

async function importImage({ runtime }: TestNode): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 't8s-netserver-'))
  try {
    const file = join(folder, 'netserver.tar')
    writeImage(file, [image], [busyboxLayer(), programLayer('/usr/bin/perl')], { Cmd: ['sh'] })
    await runtime.importImage(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
