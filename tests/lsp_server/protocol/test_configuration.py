"""Settings over the wire, and the loading of the model they name."""

from __future__ import annotations

from lsprotocol import types

from fimlsp.lsp_server.protocol.client_requests import READING

EMPTY = types.Position(0, 0)


async def test_the_model_of_the_initial_options_is_loaded_with_progress(start_editor):
    editor = await start_editor()
    await editor.initialize({"model": "initial"})
    await editor.until_status("idle", "initial")
    editor.open("")
    assert await editor.suggestion() == "initial v1 '' ''"
    await editor.until(lambda: len(next(iter(editor.client.progress_reports.values()), [])) == 2)
    begin, end = next(iter(editor.client.progress_reports.values()))
    assert (begin.message, end.message) == ("reading", "initial")


async def test_a_model_that_reads_for_long_shows_progress_until_its_answer(editor):
    editor.open("# reads<|>")
    assert await editor.suggestion() == "scripted v1 '# reads' ''"
    reports = editor.client.progress_reports

    def of_reading():
        return next((bar for bar in reports.values() if bar and bar[0].message == READING), [None])

    await editor.until(lambda: of_reading()[-1] is not None and of_reading()[-1].kind == "end")
    begin, *steps, _ = of_reading()
    percents = [step.percentage for step in (begin, *steps)]
    assert begin.percentage > 0, "it was not shown at once"
    assert percents == sorted(set(percents))


async def test_the_configuration_wins_and_may_change(start_editor):
    editor = await start_editor()
    editor.client.set_configuration({"fimlsp": {"model": "configured"}})
    await editor.initialize({"model": "initial"})
    await editor.until_status("idle", "configured")
    editor.client.set_configuration({"fimlsp": {"model": "changed"}})
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    await editor.until_status("idle", "changed")
    pushed = {"fimlsp": {"model": "pushed", "maxTokens": -1}}
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=pushed))
    await editor.until_status("idle", "pushed")
    await editor.until_logged("maxTokens must be 1 to 1024, not -1")
    editor.open("")
    assert await editor.suggestion() == "pushed v1 '' ''"


async def test_a_client_without_configuration(start_editor):
    editor = await start_editor()
    await editor.initialize({"automatic": False, "tokens": 3}, configuration=False)
    await editor.until_logged("Unknown option 'tokens'")
    await editor.until_status("idle", "scripted")
    editor.open("")
    assert await editor.suggestion() is None
    assert "automatic completion is off" in editor.last_status().reason
    assert await editor.suggestion(kind=types.InlineCompletionTriggerKind.Invoked) == "scripted v1 '' ''"


async def test_a_model_that_cannot_be_loaded(start_editor):
    editor = await start_editor()
    await editor.initialize({"model": "missing"})
    told = "there is no model missing. Until then the bundled model is used."
    await editor.until_status("idle", told)
    await editor.until_logged("there is no model missing")
    await editor.until(lambda: editor.client.messages)
    assert [message.message for message in editor.client.messages] == [told]
    editor.open("")
    assert await editor.suggestion() == "scripted v1 '' ''"
    editor.client.set_configuration({"fimlsp": {"model": "there"}})
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    await editor.until_status("idle", "there")
    assert editor.last_status().reason is None


async def test_why_another_model_is_used_stays_in_the_status(start_editor):
    editor = await start_editor()
    await editor.initialize({"model": "large"})
    await editor.until_status("idle", "large needs")
    problem = editor.last_status().reason
    assert problem.startswith("large needs PyTorch. Install what is missing with: ")
    editor.open("")
    assert await editor.suggestion() is not None
    told = editor.last_status()
    assert (told.state, told.reason) == ("suggestion", None)
    assert (told.problem, told.missing) == (problem, "checkpoints")


async def test_a_request_waits_for_the_model_and_a_newer_one_answers_it(start_editor):
    editor = await start_editor()
    await editor.initialize({"model": "endless"})
    await editor.until_status("loading", "reading")
    editor.open("<|>\n")
    older = editor.request(types.Position(1, 0))
    newer = editor.request()
    assert not (await older).items
    editor.type("x")
    assert not (await newer).items
