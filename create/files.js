/** The files that `npm init typernetes` writes, for a project of some kind. */

/**
 * @typedef {object} Project
 * @property {'node' | 'vitest' | 'jest'} runner
 * @property {boolean} isModule True if `.js` files are ECMAScript modules.
 * @property {boolean} isTypeScript
 */

/**
 * The first test: its path and its text.
 * @param {Project} project
 */
export function firstTest({ runner, isModule, isTypeScript }) {
  if (runner === 'jest' && !isModule && !isTypeScript)
    return {
      path: 'test/cluster.test.js',
      text: testText(requires(['startTestCluster, matchers', 'typernetes/test']), jestSetup, expectReady),
    }
  const kit = runner === 'node' ? 'startTestCluster, registerMatchers' : 'startTestCluster, matchers'
  const imports = [...importsOf[runner], `import { ${kit} } from 'typernetes/test'`].join('\n')
  // Node runs modules of this name whatever the type of the package is.
  const extension = runner === 'node' ? 'mjs' : isTypeScript ? 'ts' : 'js'
  const [setup, check] = runner === 'node' ? ['registerMatchers(assert)', assertReady] : [jestSetup, expectReady]
  return { path: `test/cluster.test.${extension}`, text: testText(imports, setup, check, runner) }
}

/** @param {readonly string[]} names */
const requires = ([names, from]) => `const { ${names} } = require('${from}')`

/** @type {Readonly<Record<Project['runner'], readonly string[]>>} */
const importsOf = {
  node: [`import { after, assert, before, test } from 'node:test'`],
  vitest: [`import { afterAll, beforeAll, expect, test } from 'vitest'`],
  jest: [`import { afterAll, beforeAll, expect, test } from '@jest/globals'`],
}

const jestSetup = 'expect.extend(matchers)'
const expectReady = '  expect(deployment).toBeReady()'
const assertReady = '  t.assert.toBeReady(deployment)'

/**
 * @param {string} imports
 * @param {string} setup
 * @param {string} check
 * @param {Project['runner']} [runner]
 */
function testText(imports, setup, check, runner = 'jest') {
  const [before, after, parameter] = runner === 'node' ? ['before', 'after', 't'] : ['beforeAll', 'afterAll', '']
  return `${imports}

${setup}

// A cluster in memory with a simulated node: pods become ready, but no program runs in them.
let cluster
${before}(async () => {
  cluster = await startTestCluster({ nodes: 1, scheduler: true })
})
${after}(() => cluster.stop())

test('a Deployment becomes ready', async (${parameter}) => {
  await cluster.apply(\`
    apiVersion: apps/v1
    kind: Deployment
    metadata: { name: web }
    spec:
      replicas: 2
      selector: { matchLabels: { app: web } }
      template:
        metadata: { labels: { app: web } }
        spec: { containers: [{ name: web, image: nginx }] }
  \`)
  const deployment = await cluster.waitFor('deployment/web', 'Available')
${check}
})
`
}

/** The workflow of GitHub Actions that runs the tests. */
export const workflow = {
  path: '.github/workflows/test.yml',
  text: `name: test
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 24, cache: npm }
      - run: npm ci
      - run: npm test
`,
}

/** The command of the script \`test\`. @param {Project['runner']} runner */
export const testCommand = (runner) => ({ node: 'node --test', vitest: 'vitest run', jest: 'jest' })[runner]
