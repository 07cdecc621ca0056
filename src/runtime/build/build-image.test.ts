// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of Dockerfiles.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { ImageStore, type StoredImage, type TarEntry, TarReader } from '../images/index.ts'
import { buildImage } from './build-image.ts'
import { buildRootfs } from './build-rootfs.ts'

interface Build {
  readonly files?: Readonly<Record<string, string>>
  readonly buildArgs?: Readonly<Record<string, string>>
  readonly target?: string
  readonly usesCache?: boolean
  readonly latest?: number
}

/** A store, and a function that builds a Dockerfile; steps that are cached are marked by `=`. */
function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-build-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const store = new ImageStore(join(folder, 'store'))
  const context = join(folder, 'context')
  mkdirSync(context)
  const build = async (dockerfile: string, { files = {}, buildArgs = {}, ...options }: Build = {}) => {
    for (const [name, text] of Object.entries({ ...files, Dockerfile: dockerfile })) {
      mkdirSync(dirname(join(context, name)), { recursive: true })
      writeFileSync(join(context, name), text)
    }
    const steps: string[] = []
    const image = await buildImage({
      ...options,
      store,
      context,
      names: ['app:1'],
      buildArgs: new Map(Object.entries(buildArgs)),
      executor: 'auto',
      report: {
        step: ({ number, total, isCached }) => steps.push(`${number}/${total}${isCached ? '=' : ''}`),
        output: () => {},
      },
      findImage: async (name) => store.get(name),
    })
    return { image, steps, entries: entriesOf(store, image) }
  }
  return { folder, context, store, build }
}

/** The entries of each layer as `NAME MODE UID:GID CONTENT`. */
function entriesOf(store: ImageStore, { layers }: StoredImage): string[][] {
  return layers.map(({ digest }) => {
    const found: string[] = []
    let content = ''
    let current: TarEntry | undefined
    const reader = new TarReader({
      entry: (entry) => {
        current = entry
        content = ''
      },
      data: (chunk) => void (content += chunk.toString()),
      end: () => {
        const { name, mode, uid, gid, linkName } = current!
        found.push(`${name} ${mode.toString(8)} ${uid}:${gid} ${linkName || content}`.trim())
      },
    })
    reader.push(gunzipSync(readFileSync(store.blobs.path(digest))))
    return found
  })
}

test('files get into the places that COPY names', async (t) => {
  const { build, context } = setUp(t)
  mkdirSync(join(context, 'd'))
  symlinkSync('a', join(context, 'd/link'))
  const files = { a: 'A', b: 'B', 'd/e/f': 'F', 'x y': 'XY' }
  const { entries } = await build(
    [
      'FROM scratch',
      'COPY a /one',
      'COPY --chmod=600 --chown=7:8 a b two/',
      'WORKDIR /w',
      'COPY d .',
      'COPY ["x y", "./"]',
      'COPY <<one <<"two" /docs/',
      'is $HOME',
      'one',
      'is $HOME',
      'two',
    ].join('\n'),
    { files },
  )
  assert.deepEqual(
    entries,
    [
      ['one 644 0:0 A'],
      ['two/ 755 7:8', 'two/a 600 7:8 A', 'two/b 600 7:8 B'],
      ['w/ 755 0:0'],
      ['w/ 755 0:0', 'w/e/ 755 0:0', 'w/e/f 644 0:0 F', 'w/link 777 0:0 a'],
      ['w/ 755 0:0', 'w/x y 644 0:0 XY'],
      ['docs/ 755 0:0', 'docs/one 644 0:0 is', 'docs/two 644 0:0 is $HOME'],
    ].map((layer) => layer.map((line) => line.replace('is\n', 'is'))),
  )
})

test('the configuration of the image', async (t) => {
  const { build, store } = setUp(t)
  const { image } = await build(
    [
      'ARG GLOBAL=g',
      'FROM scratch',
      'ARG GLOBAL',
      'ARG V=1',
      'ENV A=$V B="x $GLOBAL" C=$A',
      'ENV D legacy  form',
      'LABEL one=1 two="2 2"',
      'EXPOSE 80 53/udp 100-101',
      'VOLUME /data more',
      'USER ${A:-x}:0',
      'STOPSIGNAL SIGINT',
      'WORKDIR /a',
      'WORKDIR b',
      'CMD echo $A',
      'ENTRYPOINT ["/e"]',
      'HEALTHCHECK --interval=5s --retries=3 CMD true',
    ].join('\n'),
    { buildArgs: { V: '2' } },
  )
  const { config } = JSON.parse(readFileSync(store.blobs.path(image.id), 'utf8'))
  assert.deepEqual(config, {
    Env: ['A=2', 'B=x g', 'C=', 'D=legacy  form'],
    Labels: { one: '1', two: '2 2' },
    ExposedPorts: { '80/tcp': {}, '53/udp': {}, '100/tcp': {}, '101/tcp': {} },
    Volumes: { '/data': {}, '/more': {} },
    User: '2:0',
    StopSignal: 'SIGINT',
    WorkingDir: '/a/b',
    Cmd: ['/bin/sh', '-c', 'echo $A'],
    Entrypoint: ['/e'],
    Healthcheck: { Test: ['CMD-SHELL', 'true'], Interval: 5e9, Retries: 3 },
  })
  assert.deepEqual(image.tags, ['docker.io/library/app:1'])
  const { image: child } = await build('FROM app:1\nENTRYPOINT ["/f"]')
  assert.deepEqual(child.config.defaults.Cmd, [])
  assert.deepEqual(child.config.defaults.Env, config.Env)
})

test('a build without changes makes nothing, and the same image', async (t) => {
  const { build, context } = setUp(t)
  const text = 'FROM scratch AS one\nCOPY a /a\nFROM scratch\nCOPY --from=one /a /b\nCOPY b /\nLABEL x=1'
  const first = await build(text, { files: { a: 'A', b: 'B' } })
  assert.deepEqual(first.steps, ['1/6', '2/6', '3/6', '4/6', '5/6', '6/6'])
  utimesSync(join(context, 'a'), 5, 5)
  const second = await build(text)
  assert.deepEqual(second.steps, ['1/6', '2/6=', '3/6', '4/6=', '5/6=', '6/6'])
  assert.equal(second.image.id, first.image.id)
  const third = await build(text.replace('x=1', 'x=2'), { files: { b: 'C' } })
  assert.deepEqual(third.steps, ['1/6', '2/6=', '3/6', '4/6=', '5/6', '6/6'])
  chmodSync(join(context, 'a'), 0o600)
  const fourth = await build(text, { files: { b: 'B' } })
  assert.deepEqual(fourth.steps, ['1/6', '2/6', '3/6', '4/6', '5/6', '6/6'])
  assert.deepEqual((await build(text, { usesCache: false })).steps, first.steps)
})

test('a removed layer is made once more', async (t) => {
  const { build, store } = setUp(t)
  await build('FROM scratch\nCOPY a /', { files: { a: 'A' } })
  await store.remove('app:1')
  assert.deepEqual((await build('FROM scratch\nCOPY a /')).steps, ['1/2', '2/2'])
})

test('SOURCE_DATE_EPOCH makes equal images of files with other times', async (t) => {
  const { build, context } = setUp(t)
  const options = { files: { a: 'A' }, latest: 1_000_000, usesCache: false }
  const text = 'FROM scratch\nWORKDIR /x\nCOPY a .'
  const { image } = await build(text, options)
  utimesSync(join(context, 'a'), 2_000_000, 2_000_000)
  assert.equal((await build(text, { ...options, files: {} })).image.id, image.id)
  assert.equal(image.config.created, '1970-01-12T13:46:40Z')
})

test('ADD unpacks archives, and copies other files', async (t) => {
  const { build, context } = setUp(t)
  mkdirSync(join(context, 'in/d'), { recursive: true })
  writeFileSync(join(context, 'in/d/f'), 'F')
  const owner = ['--owner=5', '--group=6', '--numeric-owner', '--mtime=@0']
  for (const [name, flag] of [
    ['a.tar', '-c'],
    ['b.tar.gz', '-cz'],
  ] as const)
    execFileSync('tar', [...owner, flag, '-f', join(context, name), '-C', join(context, 'in'), 'd'])
  writeFileSync(join(context, 'c.gz'), execFileSync('gzip', ['-c'], { input: 'text' }))
  const { entries } = await build('FROM scratch\nADD a.tar /x/\nADD --chown=7 b.tar.gz /\nADD in/d/f /f\nCOPY a.tar /')
  assert.deepEqual(entries.slice(0, 3), [
    ['x/ 755 0:0', 'x/d/ 755 5:6', 'x/d/f 644 5:6 F'],
    ['d/ 755 7:7', 'd/f 644 7:7 F'],
    ['f 644 0:0 F'],
  ])
  assert.match(entries[3]![0]!, /^a\.tar 644 0:0/)
  assert.match((await build('FROM scratch\nADD c.gz /')).entries[0]![0]!, /^c\.gz 644/)
})

for (const [title, dockerfile, message] of [
  ['a file that is missing', 'FROM scratch\nCOPY x /', /Dockerfile:2: x is not in the build context /],
  ['a file that is left out', 'FROM scratch\nCOPY secret /', /Dockerfile:2: secret is not in the build context /],
  ['an address', 'FROM scratch\nADD https://x.test/a /', /is not downloaded: download it into the build context/],
  ['several files for a file', 'FROM scratch\nCOPY a Dockerfile /x', /needs a folder: end \/x with a slash/],
  ['a pattern of several files', 'FROM scratch\nCOPY [aD]* /x', /several files need a folder: end \/x with a slash/],
  [
    'a folder over a file',
    'FROM scratch\nCOPY a /x\nCOPY a /x/y',
    /Dockerfile:3: a part of \/x\/y is no folder in the image/,
  ],
  ['a file over a folder', 'FROM scratch\nWORKDIR /x/a\nCOPY a /x/', /\/x\/a is a folder in the image/],
  ['a user that is missing', 'FROM scratch\nCOPY --chown=web a /', /the image has no user "web": use a number/],
  ['a mode of letters', 'FROM scratch\nCOPY --chmod=u+x a /', /must be an octal number such as 755/],
  ['a base image that is missing', 'FROM gone:1', /Dockerfile:1: gone:1: not found/],
  ['a port of letters', 'FROM scratch\nEXPOSE http', /http is no port: write 80\/tcp/],
  ['a variable that must be set', 'FROM scratch\nWORKDIR ${X:?is empty}', /Dockerfile:2: X: is empty/],
] as const)
  test(`${title} is rejected`, async (t) => {
    const { build, store } = setUp(t)
    const files = { a: 'A', secret: 'S', '.dockerignore': 'secret' }
    await assert.rejects(build(dockerfile, { files }), message)
    assert.deepEqual(store.list(), [])
  })

test('a folder becomes an image', async (t) => {
  const { folder, store } = setUp(t)
  const root = join(folder, 'root')
  mkdirSync(join(root, 'bin'), { recursive: true })
  writeFileSync(join(root, 'bin/tool'), 'x', { mode: 0o4755 })
  chmodSync(join(root, 'bin/tool'), 0o4755)
  execFileSync('ln', [join(root, 'bin/tool'), join(root, 'bin/same')])
  const config = { Entrypoint: ['/bin/tool'], Env: ['A=1'] }
  const image = await buildRootfs({ store, folder: root, names: ['tool:1'], config, latest: 0 })
  assert.deepEqual(entriesOf(store, image), [['bin/ 755 0:0', 'bin/same 4755 0:0 x', 'bin/tool 4755 0:0 bin/same']])
  assert.deepEqual([image.config.defaults.Entrypoint, image.tags], [['/bin/tool'], ['docker.io/library/tool:1']])
  await assert.rejects(buildRootfs({ store, folder: join(folder, 'x'), names: [], config: {} }), /x is no folder/)
})
