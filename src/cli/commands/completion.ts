/** `t8s completion`: what shells need to complete commands, flags and names of contexts. */
import { Argument, Command } from 'commander'
import type { Shell } from '../completion/scripts.ts'

const examples = `
Examples:
  bash   echo 'source <(t8s completion bash)' >> ~/.bashrc
  zsh    echo 'source <(t8s completion zsh)' >> ~/.zshrc         (after compinit)
  fish   t8s completion fish > ~/.config/fish/completions/t8s.fish`

export function completionCommand(): Command {
  return new Command('completion')
    .addArgument(new Argument('<SHELL>').choices(['bash', 'zsh', 'fish']))
    .description('print what bash, zsh or fish need to complete commands, flags and names of contexts')
    .addHelpText('after', examples)
    .action(async (shell: Shell) => {
      const { scripts } = await import('../completion/scripts.ts')
      process.stdout.write(scripts[shell])
    })
}

/**
 * What the scripts call: `t8s __complete WORD… LAST`, where LAST is what is being typed. It prints a line for each way
 * to go on.
 */
export function completeCommand(): Command {
  return new Command('__complete')
    .argument('[WORDS...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (words: readonly string[], _flags, command: Command) => {
      const { candidates } = await import('../completion/candidates.ts')
      const { contextNames } = await import('../completion/context-names.ts')
      const found = await candidates(command.parent!, words, contextNames)
      process.stdout.write(found.map(({ text, note }) => `${text}\t${note}\n`).join(''))
    })
}
