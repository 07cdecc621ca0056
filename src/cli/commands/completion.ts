/** `t8s completion`: completion scripts for shells. */
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
    .description('print the script that completes commands, flags and context names in bash, zsh or fish')
    .addHelpText('after', examples)
    .action(async (shell: Shell) => {
      const { scripts } = await import('../completion/scripts.ts')
      process.stdout.write(scripts[shell])
    })
}

/**
 * The hidden command that the scripts call: `t8s __complete WORD… LAST`, where LAST is the word being typed. It prints
 * a line for each candidate.
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
