#!/usr/bin/env node
/**
 * `npm init typernetes`: adds Typernetes to the project in this folder: a development dependency, a first test, and a
 * workflow for CI. Existing files stay as they are.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { firstTest, jestConfig, testCommand, workflow } from './files.js'

const help = `npm init typernetes [-- FOLDER] [-- --runner node|vitest|jest]

Adds Typernetes to the project in this folder, or in FOLDER: a development dependency, a first test, and a
workflow for CI. Existing files stay as they are. The test runner is the one that package.json names, else
node:test.
`
const runners = ['node', 'vitest', 'jest']
const jestNote = `
Jest runs this test if its testMatch includes .mjs, with NODE_OPTIONS=--experimental-vm-modules.
`
const own = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'))

function main() {
  const { values, positionals } = parsedArguments()
  if (values.help) return void process.stdout.write(help)
  const folder = resolve(positionals[0] ?? '.')
  mkdirSync(folder, { recursive: true })
  const manifest = readManifest(folder)
  const names = { ...manifest.dependencies, ...manifest.devDependencies }
  const runner = values.runner ?? runners.find((name) => name in names) ?? 'node'
  if (!runners.includes(runner)) throw new Error(`--runner ${runner} is unknown: use ${runners.join(', ')}`)
  const hasTest = addToManifest(folder, manifest, runner)
  const isNewJest = runner === 'jest' && !hasTest && !isConfigured(folder, manifest)
  for (const { path, text } of [firstTest(runner), ...(isNewJest ? [jestConfig] : []), workflow])
    writeNew(folder, path, text)
  if (runner === 'jest' && !isNewJest) process.stdout.write(jestNote)
  process.stdout.write(`\nNow run:\n\n  npm install\n  npm test\n`)
}

function parsedArguments() {
  return parseArgs({ options: { help: { type: 'boolean' }, runner: { type: 'string' } }, allowPositionals: true })
}

/** Throws an Error that names the file if it is no JSON object. */
function readManifest(folder) {
  const path = join(folder, 'package.json')
  if (!existsSync(path)) return { name: packageName(folder), private: true, type: 'module' }
  try {
    const manifest = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof manifest === 'object' && manifest !== null && !Array.isArray(manifest)) return manifest
  } catch (error) {
    throw new Error(`${path} is not valid JSON: ${error.message}`)
  }
  throw new Error(`${path} is not a JSON object`)
}

const packageName = (folder) =>
  basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._]+/, '') || 'cluster-tests'

/** Returns true if the project has a script `test` already. */
function addToManifest(folder, manifest, runner) {
  const path = join(folder, 'package.json')
  const { scripts = {}, devDependencies = {} } = manifest
  // What npm init writes before there is a test.
  const hasTest = scripts.test !== undefined && !scripts.test.includes('no test specified')
  const changed = {
    ...manifest,
    scripts: hasTest ? scripts : { ...scripts, test: testCommand(runner) },
    devDependencies: sorted({
      ...(runner !== 'node' && !isNamed(manifest, runner) && { [runner]: '*' }),
      typernetes: `^${own.version}`,
      ...devDependencies,
    }),
  }
  const existed = existsSync(path)
  writeFileSync(path, `${JSON.stringify(changed, undefined, 2)}\n`)
  process.stdout.write(`${existed ? 'changed' : 'wrote  '} package.json\n`)
  return hasTest
}

/** True if the project has a configuration of Jest. */
const isConfigured = (folder, { jest }) =>
  jest !== undefined || ['js', 'ts', 'mjs', 'cjs', 'json'].some((end) => existsSync(join(folder, `jest.config.${end}`)))

const isNamed = ({ dependencies = {}, devDependencies = {} }, name) => name in dependencies || name in devDependencies

const sorted = (names) => Object.fromEntries(Object.entries(names).sort(([a], [b]) => (a < b ? -1 : 1)))

function writeNew(folder, path, text) {
  const target = join(folder, path)
  if (existsSync(target)) {
    process.stdout.write(`kept    ${path}: it exists already\n`)
    return
  }
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, text)
  process.stdout.write(`wrote   ${path}\n`)
}

try {
  main()
} catch (error) {
  process.stderr.write(`create-typernetes: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
