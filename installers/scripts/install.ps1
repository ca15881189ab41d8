# Installs cairn for the current user. Needs no administrator and downloads nothing.
#
#   install.ps1 [-From FILE] [-To DIR]
#
# -From is the program; by default the file cairn.exe beside this script, or else one built with go from the checkout that
# this script lies in. -To is where it goes. Run it again to upgrade. uninstall.ps1 takes cairn away again.
param(
    [string]$From = '',
    [string]$To = (Join-Path $env:LOCALAPPDATA 'Programs\cairn')
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'

function Get-Program([string]$Fresh) {
    $beside = Join-Path $PSScriptRoot 'cairn.exe'
    if (-not $From -and (Test-Path -LiteralPath $beside -PathType Leaf)) { $script:From = $beside }
    if ($From) {
        Copy-Item -LiteralPath $From -Destination $Fresh
        return
    }
    $root = Join-Path $PSScriptRoot '..\..'
    $module = Join-Path $root 'go.mod'
    if (-not ((Test-Path -LiteralPath $module) -and (Select-String -LiteralPath $module -Pattern '^module cairn$' -Quiet))) {
        throw 'There is no program beside this script. Say where it is with -From FILE.'
    }
    if (-not (Get-Command go -ErrorAction SilentlyContinue)) {
        throw 'Go is needed to build cairn. Or say where a built program is with -From FILE.'
    }
    Write-Output 'Building cairn ...'
    Push-Location -LiteralPath $root
    try {
        $env:CGO_ENABLED = '0'
        & go build -trimpath -o $Fresh ./cmd/cairn
        if ($LASTEXITCODE -ne 0) { throw 'cairn could not be built. Nothing was changed.' }
    } finally {
        Pop-Location
    }
}

# A program that runs cannot be overwritten, but it can be renamed.
function Move-Program([string]$Fresh, [string]$Target) {
    if (Test-Path -LiteralPath $Target) {
        if ((Get-FileHash -LiteralPath $Fresh).Hash -eq (Get-FileHash -LiteralPath $Target).Hash) {
            Write-Output "cairn is already there: $Target"
            return
        }
        Move-Item -LiteralPath $Target -Destination "$Target.$PID.old"
        Write-Output 'An agent that runs goes on with the old program until it ends: cairn agent stop'
    }
    Move-Item -LiteralPath $Fresh -Destination $Target
    Write-Output "Installed: $Target"
}

# The value is read and written without expanding it: other entries may hold variables.
function Add-ToPath([string]$Dir) {
    $key = Get-Item -LiteralPath 'HKCU:\Environment'
    $path = [string]$key.GetValue('Path', '', 'DoNotExpandEnvironmentNames')
    if ((';' + $path + ';') -like ('*;' + [WildcardPattern]::Escape($Dir) + ';*')) { return }
    $joined = ($path.TrimEnd(';') + ';' + $Dir).TrimStart(';')
    Set-ItemProperty -LiteralPath 'HKCU:\Environment' -Name 'Path' -Value $joined -Type ExpandString
    # Removing a variable that is not there tells the other programs that the environment changed.
    [Environment]::SetEnvironmentVariable('CAIRN_INSTALL', $null, 'User')
    Write-Output "Added to your PATH: $Dir (in new windows)"
}

New-Item -ItemType Directory -Force -Path $To | Out-Null
$target = Join-Path $To 'cairn.exe'
Get-ChildItem -LiteralPath $To -Filter 'cairn.exe.*.old' | Remove-Item -ErrorAction SilentlyContinue
$fresh = Join-Path $To "cairn.new.$PID.exe"
try {
    Get-Program $fresh
    & $fresh version | Out-Null
    if ($LASTEXITCODE -ne 0) { throw 'The program does not run on this machine. Nothing was changed.' }
    Move-Program $fresh $target
} finally {
    if (Test-Path -LiteralPath $fresh) { Remove-Item -LiteralPath $fresh }
}
Add-ToPath $To

Write-Output ''
Write-Output 'Next:'
Write-Output '  cairn init           make the store on this machine'
Write-Output '  cairn connect all    connect the AI tools that are here (add --dry-run to look first)'
Write-Output '  cairn join INVITE    share with your other machines, if you have a hub'
